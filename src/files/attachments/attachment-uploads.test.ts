/** Uploads of attachments, at moments that are hard to reach over HTTP. */
import { expect, it, onTestFinished } from 'vitest';
import { aFolder, bytesOf, piecesOf, sha256Of } from '../../../test/processes/blobs-workbench.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import type { BlobsOptions } from '../blobs/open-blobs.ts';
import { openBlobs } from '../blobs/open-blobs.ts';
import { AttachmentUploads } from './attachment-uploads.ts';
import { Attachments, UPLOAD_RECORD } from './attachments.ts';
import type { PutFile } from './file-upload.ts';

const content = bytesOf(10_000);

async function aBench(options: Partial<BlobsOptions> = {}) {
  const store = openMemoryStore();
  const blobs = await openBlobs({ folder: await aFolder(), reserveBytes: 0, ...options });
  onTestFinished(async () => {
    await blobs.close();
    await store.close();
  });
  const attachments = new Attachments(store, blobs);
  const uploads = new AttachmentUploads(store, blobs, { attachments });
  await store.jobs.add([{ id: 'job', queue: 'q', data: '1', draft: true }]);
  const file = (bytes: Uint8Array, more: Partial<PutFile> = {}): PutFile => ({
    id: 'job',
    name: 'x',
    offset: null,
    length: bytes.length,
    size: null,
    sha256: null,
    lease: null,
    now: Date.now(),
    signal: new AbortController().signal,
    source: () => piecesOf(bytes),
    ...more,
  });
  return { store, blobs, attachments, uploads, file };
}

it('an upload that a node finished but did not attach only needs its last call', async () => {
  const { store, blobs, uploads, file } = await aBench();
  await uploads.put(file(content.subarray(0, 4_000), { offset: 0, size: 10_000 }));
  const record = await store.records.get(UPLOAD_RECORD, 'job/x');
  const { upload } = JSON.parse(record?.value ?? '{}') as { upload: string };
  await blobs.append(upload, { offset: 4_000, source: piecesOf(content.subarray(4_000)) });
  await blobs.finish(upload);
  expect(await uploads.unfinished('job')).toMatchObject({ refusal: { code: 'wrong-state' } });
  expect(await uploads.state('job', 'x')).toEqual({ offset: 10_000, size: 10_000 });
  expect(await uploads.put(file(Buffer.alloc(0), { offset: 10_000, size: 10_000 }))).toMatchObject({
    ok: true,
    attachment: { sha256: sha256Of(content), size: 10_000 },
  });
  expect(await uploads.unfinished('job')).toBeNull();
});

it('a complete attachment does not block its draft when its sender began again and was cut off', async () => {
  const { store, uploads, attachments, file } = await aBench();
  const sent = { offset: 0, size: 10_000, sha256: sha256Of(content) };
  const cut = () => {
    throw new Error('cut');
  };
  await uploads.put(file(content, sent));
  await expect(uploads.put(file(content, { ...sent, source: cut }))).rejects.toThrow('cut');
  expect(await uploads.state('job', 'x')).toEqual({ offset: 0, size: 10_000 });
  expect(await uploads.unfinished('job')).toBeNull();
  expect(await attachments.list('job')).toMatchObject([{ name: 'x', sha256: sha256Of(content) }]);
  expect(await store.records.list({ kind: UPLOAD_RECORD, limit: 10 })).toEqual([]);
  // Different content is refused.
  await expect(uploads.put(file(content, { ...sent, sha256: '0'.repeat(64), source: cut }))).rejects.toThrow('cut');
  expect(await uploads.unfinished('job')).toMatchObject({ refusal: { code: 'wrong-state' } });
});

it('a full disk refuses before the source is opened, and leaves nothing behind', async () => {
  const { uploads, file } = await aBench({ reserveBytes: Number.MAX_SAFE_INTEGER });
  let isOpened = false;
  const source = () => {
    isOpened = true;
    return piecesOf(content);
  };
  await expect(uploads.put(file(content, { source }))).rejects.toMatchObject({ code: 'store-full' });
  expect(isOpened).toBe(false);
  expect(await uploads.unfinished('job')).toBeNull();
});

it('a file that is too large is refused before the source is opened', async () => {
  const { uploads, file } = await aBench({ maxBytes: 5_000 });
  const source = () => {
    throw new Error('asked for');
  };
  expect(await uploads.put(file(content, { source }))).toMatchObject({ ok: false, refusal: { code: 'too-large' } });
  const unannounced = await uploads.put(file(content, { length: null }));
  expect(unannounced).toMatchObject({ ok: false, refusal: { code: 'too-large' } });
});

it('a job that ends during an upload does not get the file', async () => {
  const { store, uploads, attachments, file } = await aBench();
  async function* cancelling(): AsyncGenerator<Uint8Array> {
    yield content.subarray(0, 5_000);
    await store.jobs.cancel([{ id: 'job' }]);
    yield content.subarray(5_000);
  }
  expect(await uploads.put(file(content, { source: cancelling }))).toMatchObject({ refusal: { code: 'wrong-state' } });
  expect(await attachments.list('job')).toEqual([]);
});

it('an output never replaces an input', async () => {
  const { store, uploads, attachments, file } = await aBench();
  await uploads.put(file(content));
  await store.jobs.commit(['job']);
  const { jobs } = await store.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 'r' });
  const lease = jobs[0]?.lease?.token ?? 0;
  const made = content.subarray(1);
  expect(await uploads.put(file(made, { lease }))).toMatchObject({ attachment: { direction: 'out' } });
  expect(await attachments.list('job')).toMatchObject([
    { direction: 'in', sha256: sha256Of(content) },
    { direction: 'out', sha256: sha256Of(made) },
  ]);
});

it('a source that hangs is abandoned when another upload takes over', async () => {
  const { uploads, file } = await aBench();
  let resolveBegun = (): void => undefined;
  const begun = new Promise<void>((resolve) => (resolveBegun = resolve));
  async function* stuck(): AsyncGenerator<Uint8Array> {
    yield content.subarray(0, 5_000);
    resolveBegun();
    await new Promise(() => undefined);
  }
  const first = uploads.put(file(content, { source: stuck }));
  await begun;
  const second = uploads.put(file(content));
  expect(await second).toMatchObject({ ok: true, attachment: { sha256: sha256Of(content) } });
  expect(await first).toMatchObject({ ok: false });
});

it('deleting a job deletes its attachments and uploads', async () => {
  const { store, uploads, attachments, file } = await aBench();
  await uploads.put(file(content));
  await uploads.put(file(content.subarray(0, 10), { name: 'y', offset: 0, size: 100 }));
  await attachments.removeAll('job');
  expect(await attachments.list('job')).toEqual([]);
  expect(await store.records.list({ kind: UPLOAD_RECORD, limit: 10 })).toEqual([]);
});

it('an attempt whose lease is lost during its check never replaces a file of the next attempt', async () => {
  const { attachments, blobs } = await aBench();
  const output = async (text: string) => {
    const added = await blobs.addFromStream(piecesOf(Buffer.from(text)));
    if (!added.ok) throw new Error(added.refusal.message);
    return { name: 'x', ...added.blob, direction: 'out' } as const;
  };
  const [stale, next] = [await output('stale'), await output('next')];
  let checks = 0;
  // The lease is held when it is checked; before the answer arrives, the next attempt attaches its own file.
  const check = async () => {
    checks += 1;
    if (checks > 1) return 'lease-lost';
    await attachments.put('job', next);
    return null;
  };
  expect(await attachments.putIf('job', stale, check)).toBe('lease-lost');
  expect(await attachments.list('job')).toEqual([next]);
  expect(await attachments.referenced([next.sha256])).toEqual(new Set([next.sha256]));
});

it('a sender that does not continue leaves nothing of a failed upload', async () => {
  const { store, blobs, uploads, attachments, file } = await aBench();
  const begun: string[] = [];
  const cut = async function* () {
    const [record] = await store.records.list({ kind: UPLOAD_RECORD, limit: 1 });
    begun.push((JSON.parse(record?.value ?? '{}') as { upload: string }).upload);
    yield Buffer.from('half');
    throw new Error('cut');
  };
  await expect(uploads.put(file(content, { keepsPart: false, source: cut }))).rejects.toThrow('cut');
  expect(await uploads.unfinished('job')).toBeNull();
  expect(await blobs.upload(begun[0] ?? '')).toBeNull();
  expect(await attachments.list('job')).toEqual([]);
});
