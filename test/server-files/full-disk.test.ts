/** A full disk is refused with a reason before the body is requested. */
import { request } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { AttachmentUploads } from '../../src/files/attachments/attachment-uploads.ts';
import { Attachments } from '../../src/files/attachments/attachments.ts';
import { openBlobs } from '../../src/files/blobs/open-blobs.ts';
import type { NodeServices } from '../../src/server/views/context.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { aFolder } from '../processes/blobs-workbench.ts';
import { startTrial } from '../server/trial-server.ts';

it('an attachment without disk space is refused with 507, and gets no 100 Continue', async () => {
  const store = openMemoryStore();
  const blobs = await openBlobs({ folder: await aFolder(), reserveBytes: Number.MAX_SAFE_INTEGER });
  onTestFinished(() => blobs.close());
  const attachments = new Attachments(store, blobs);
  // Only what this route uses of a node.
  const node: Partial<NodeServices> = { attachments, uploads: new AttachmentUploads(store, blobs, { attachments }) };
  const trial = await startTrial({ store, context: { node: node as NodeServices } });
  await store.jobs.add([{ id: 'full', queue: 'q', data: '1', draft: true }]);
  let isToldToGoOn = false;
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': 1_000, expect: '100-continue' };
    const path = '/api/jobs/full/attachments/x';
    const sent = request(
      { method: 'PUT', host: '127.0.0.1', port: trial.port, path, headers, agent: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    );
    sent.on('continue', () => (isToldToGoOn = true));
    sent.on('error', reject);
    sent.flushHeaders();
  });
  expect(status).toBe(507);
  expect(isToldToGoOn).toBe(false);
  expect(await store.jobs.commit(['full'])).toMatchObject([{ ok: true }]);
});
