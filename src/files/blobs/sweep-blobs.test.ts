import { readdirSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  aBench,
  type Bench,
  blobPath,
  bytesOf,
  get,
  piecesOf,
  put,
  sha256Of,
} from '../../../test/processes/blobs-workbench.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const nothing = async () => new Set<string>();
const everything = async (hashes: readonly string[]) => new Set(hashes);

/** A blob that was found unreferenced more than an hour ago. */
async function aDueBlob(): Promise<Bench & { sha256: string }> {
  const bench = await aBench();
  const sha256 = await put(bench.blobs, bytesOf(1000));
  await bench.blobs.sweep({ referenced: nothing });
  bench.pass(HOUR + MINUTE);
  return { ...bench, sha256 };
}

/** Reports that nothing is referenced, and runs `work` while the blob is hidden. */
function meanwhile(work: () => Promise<unknown>) {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls === 2) await work();
    return new Set<string>();
  };
}

describe('the sweep', () => {
  it('deletes a blob an hour after it was first found without a reference, with everything beside it', async () => {
    const { blobs, files, pass } = await aBench();
    const sha256 = await put(blobs, bytesOf(1000));
    await blobs.md5(sha256);
    pass(59 * MINUTE);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removed: 0 });
    pass(59 * MINUTE);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removed: 0 });
    expect(await blobs.stat(sha256)).not.toBeNull();
    pass(2 * MINUTE);
    expect(await blobs.sweep({ referenced: nothing })).toEqual({ removed: 1, freedBytes: 1000, removedUploads: 0 });
    expect(await blobs.stat(sha256)).toBeNull();
    expect(files()).toEqual([]);
  });

  it('keeps referenced blobs, and restarts the hour after a reference in between', async () => {
    const { blobs, pass } = await aBench();
    const [kept, lost] = [await put(blobs, bytesOf(10, 1)), await put(blobs, bytesOf(10, 2))];
    const referenced = async () => new Set([kept]);
    await blobs.sweep({ referenced: nothing });
    pass(50 * MINUTE);
    await blobs.sweep({ referenced });
    pass(50 * MINUTE);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removed: 1 });
    expect(await blobs.stat(lost)).toBeNull();
    pass(59 * MINUTE);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removed: 0 });
    pass(MINUTE);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removed: 1 });
  });

  it('keeps a recently used blob, however long it was unreferenced before', async () => {
    const { blobs, sha256 } = await aDueBlob();
    await blobs.keep(sha256);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removed: 0 });
    expect(await blobs.keep(sha256Of(bytesOf(5)))).toBe(false);
  });

  it('deletes at once with olderThanMs 0', async () => {
    const { blobs, files, pass } = await aBench();
    await put(blobs, bytesOf(1000));
    pass(1);
    expect(await blobs.sweep({ referenced: nothing, olderThanMs: 0 })).toMatchObject({ removed: 1 });
    expect(files()).toEqual([]);
  });

  it.each([
    ['an add of the same content', (bench: Bench) => put(bench.blobs, bytesOf(1000))],
    ['a new reference that is announced', (bench: Bench) => bench.blobs.keep(sha256Of(bytesOf(1000)))],
    ['a reader', (bench: Bench) => get(bench.blobs, sha256Of(bytesOf(1000)))],
    ['another process that adds it', async (bench: Bench) => put(await bench.reopen(), bytesOf(1000))],
  ])('loses against %s while it decides', async (_what, work) => {
    const bench = await aDueBlob();
    await bench.blobs.sweep({ referenced: meanwhile(() => work(bench)) });
    expect(sha256Of(await get(bench.blobs, bench.sha256))).toBe(bench.sha256);
    expect(await bench.blobs.verify(bench.sha256)).toBe('intact');
    expect(bench.files().filter((path) => path.includes('doomed'))).toEqual([]);
  });

  it('restores a blob that was referenced while it decided', async () => {
    const { blobs, sha256 } = await aDueBlob();
    let calls = 0;
    await blobs.sweep({ referenced: async (hashes) => (++calls === 1 ? new Set() : new Set(hashes)) });
    expect(calls).toBe(2);
    expect(await blobs.stat(sha256)).not.toBeNull();
  });

  it('deletes nothing when the reference check fails, and the blob stays readable', async () => {
    const { blobs, sha256 } = await aDueBlob();
    const broken = meanwhile(() => Promise.reject(new Error('the store is unavailable')));
    await expect(blobs.sweep({ referenced: broken })).rejects.toThrow('the store is unavailable');
    expect(await blobs.stat(sha256)).not.toBeNull();
    expect(await blobs.verify(sha256)).toBe('intact');
  });

  it.each([
    ['referenced', everything, true],
    ['unreferenced', nothing, false],
  ])('decides about a blob that a killed sweep left hidden: %s', async (_what, referenced, isKept) => {
    const { blobs, folder, sha256, files } = await aDueBlob();
    const path = blobPath(folder, sha256);
    await rename(path, `${path}.doomed-${'0'.repeat(32)}`);
    await blobs.sweep({ referenced });
    expect(files()).toEqual(isKept ? [path.slice(folder.length + 1)] : []);
  });

  it('ignores a marker from the future', async () => {
    const { blobs, folder, sha256, pass } = await aDueBlob();
    const future = Date.now() / 1000 + 1e6;
    await utimes(`${blobPath(folder, sha256)}.unreferenced`, future, future);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removed: 0 });
    pass(HOUR);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removed: 1 });
  });

  it('touches no file that is not ours', async () => {
    const { blobs, folder, pass, files } = await aBench();
    await put(blobs, bytesOf(1));
    const shard = readdirSync(folder).find((name) => name.length === 2) ?? '';
    await writeFile(join(folder, shard, 'notes.txt'), 'mine');
    pass(3 * HOUR);
    await blobs.sweep({ referenced: nothing, olderThanMs: 0 });
    expect(files()).toEqual([`${shard}/notes.txt`]);
  });

  it('removes uploads that were idle for a day, and files of a killed add after an hour', async () => {
    const { blobs, folder, files, pass } = await aBench();
    const begin = await blobs.begin({ id: 'slow' });
    expect(begin.ok).toBe(true);
    await blobs.append('slow', { offset: 0, source: piecesOf(bytesOf(10)) });
    await writeFile(join(folder, 'uploads', `${'0'.repeat(32)}.tmp`), 'half');
    pass(HOUR + MINUTE);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removedUploads: 1 });
    expect(await blobs.upload('slow')).toMatchObject({ offset: 10 });
    pass(24 * HOUR);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removedUploads: 1 });
    expect(files()).toEqual([]);
  });

  it('leaves an upload alone while it is written', async () => {
    const { blobs, pass } = await aBench();
    await blobs.begin({ id: 'slow' });
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    let signalStarted: () => void = () => undefined;
    const started = new Promise<void>((resolve) => (signalStarted = resolve));
    const source = (async function* () {
      yield bytesOf(10);
      signalStarted();
      await gate;
      yield bytesOf(10);
    })();
    const append = blobs.append('slow', { offset: 0, source });
    await started;
    pass(48 * HOUR);
    expect(await blobs.sweep({ referenced: nothing })).toMatchObject({ removedUploads: 0 });
    go();
    expect(await append).toEqual({ ok: true, offset: 20 });
  });
});
