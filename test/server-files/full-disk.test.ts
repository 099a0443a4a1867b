/** A disk without room is a no with words, before a byte is asked for. */
import { request } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { AttachmentUploads } from '../../src/files/attachments/attachment-uploads.ts';
import { Attachments } from '../../src/files/attachments/attachments.ts';
import { openBlobs } from '../../src/files/blobs/open-blobs.ts';
import type { NodeFace } from '../../src/server/views/context.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { aFolder } from '../processes/blobs-workbench.ts';
import { startTrial } from '../server/trial-server.ts';

it('an attachment for which there is no room is refused with 507, and nobody is told to go on', async () => {
  const store = openMemoryStore();
  const blobs = await openBlobs({ folder: await aFolder(), reserveBytes: Number.MAX_SAFE_INTEGER });
  onTestFinished(() => blobs.close());
  const attachments = new Attachments(store, blobs);
  // What this route asks of a node, and no more.
  const node: Partial<NodeFace> = { attachments, uploads: new AttachmentUploads(store, blobs, { attachments }) };
  const trial = await startTrial({ store, context: { node: node as NodeFace } });
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
