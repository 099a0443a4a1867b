import { createReadStream } from 'node:fs';
import { appendFile, link, mkdir, open, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  aBench,
  aFolder,
  bytesOf,
  cutAfter,
  filesBelow,
  get,
  makeFifo,
  md5Of,
  piecesOf,
  sha256Of,
} from '../../../test/processes/blobs-workbench.ts';

const MB = 1024 * 1024;

describe('an add from a stream', () => {
  it('accepts any stream of bytes', async () => {
    const { blobs } = await aBench();
    const folder = await aFolder();
    const bytes = bytesOf(2 * MB + 1);
    const sha256 = sha256Of(bytes);
    await writeFile(join(folder, 'film'), bytes);
    const web = new Blob([new Uint8Array(bytes)]).stream() as AsyncIterable<Uint8Array>;
    for (const source of [
      piecesOf(bytes, 1_000),
      createReadStream(join(folder, 'film')),
      web,
      Readable.from([bytes]),
    ]) {
      const added = await blobs.addFromStream(source, { sha256, md5: md5Of(bytes), size: bytes.length });
      expect(added).toEqual({ ok: true, blob: { sha256, size: bytes.length } });
    }
    expect(sha256Of(await get(blobs, sha256))).toBe(sha256);
  });

  it.each([
    ['a wrong SHA-256', { sha256: sha256Of(bytesOf(1)) }, 'wrong-hash'],
    ['a wrong MD5', { md5: md5Of(bytesOf(1)) }, 'wrong-hash'],
    ['too few bytes', { size: 1001 }, 'wrong-size'],
    ['too many bytes', { size: 999 }, 'wrong-size'],
    ['an announcement beyond the limit', { size: MB + 1 }, 'too-large'],
  ])('is refused with %s and leaves nothing behind', async (_what, expected, code) => {
    const { blobs, files } = await aBench({ maxBytes: MB });
    const refused = await blobs.addFromStream(piecesOf(bytesOf(1000)), expected);
    expect(refused).toMatchObject({ ok: false, refusal: { code } });
    expect(files()).toEqual([]);
  });

  it('throws the error of the stream, and leaves nothing behind', async () => {
    const { blobs, files } = await aBench({ maxBytes: MB });
    await expect(blobs.addFromStream(cutAfter(bytesOf(1000)))).rejects.toThrow('the line was cut');
    await expect(blobs.addFromStream(Readable.from(['text']) as AsyncIterable<Uint8Array>)).rejects.toThrow(
      'not yield bytes',
    );
    const signal = AbortSignal.abort();
    await expect(blobs.addFromStream(piecesOf(bytesOf(1000)), { signal })).rejects.toThrow('aborted');
    expect(await blobs.addFromStream(piecesOf(bytesOf(MB + 1)))).toMatchObject({ refusal: { code: 'too-large' } });
    expect(files()).toEqual([]);
  });
});

describe('an add from a path', () => {
  it('adds a file unchanged', async () => {
    const { blobs } = await aBench();
    const path = join(await aFolder(), 'film');
    for (const size of [0, 1, 512 * 1024, 3 * MB + 5]) {
      const bytes = bytesOf(size);
      await writeFile(path, bytes);
      const added = await blobs.addFromPath(path, { md5: md5Of(bytes) });
      expect(added).toEqual({ ok: true, blob: { sha256: sha256Of(bytes), size } });
      expect(sha256Of(await get(blobs, sha256Of(bytes)))).toBe(sha256Of(bytes));
    }
  });

  it('refuses anything but a regular file, without blocking', async () => {
    const { blobs, files } = await aBench();
    const folder = await aFolder();
    await writeFile(join(folder, 'file'), 'content');
    await symlink('file', join(folder, 'symlink'));
    await mkdir(join(folder, 'folder'));
    makeFifo(join(folder, 'fifo'));
    for (const path of ['symlink', 'folder', 'fifo', 'file/below'].map((name) => join(folder, name))) {
      expect({ path, ...(await blobs.addFromPath(path)) }).toMatchObject({ path, refusal: { code: 'odd-file' } });
    }
    expect(await blobs.addFromPath('/dev/zero')).toMatchObject({ refusal: { code: 'odd-file' } });
    expect(await blobs.addFromPath(join(folder, 'none'))).toMatchObject({ refusal: { code: 'not-found' } });
    expect(files()).toEqual([]);
  });

  it('refuses hard links or another owner on request', async () => {
    const { blobs } = await aBench();
    const path = join(await aFolder(), 'file');
    await writeFile(path, 'content');
    const owner = process.getuid?.() ?? 0;
    expect(await blobs.addFromPath(path, { owner, isSole: true })).toMatchObject({ ok: true });
    expect(await blobs.addFromPath(path, { owner: owner + 1 })).toMatchObject({ refusal: { code: 'odd-file' } });
    await link(path, `${path}2`);
    expect(await blobs.addFromPath(path, { isSole: true })).toMatchObject({ refusal: { code: 'odd-file' } });
    expect(await blobs.addFromPath(path)).toMatchObject({ ok: true });
  });

  it.each([
    ['grows', (path: string) => appendFile(path, 'more')],
    ['shrinks', (path: string, turn: number) => truncate(path, 24 * MB - turn)],
    ['is written over', (path: string, turn: number) => overwrite(path, turn)],
  ])('detects a file that %s while it is read', async (_what, change) => {
    const { blobs, files } = await aBench();
    const path = join(await aFolder(), 'film');
    await writeFile(path, bytesOf(24 * MB));
    let isOver = false;
    const changing = (async () => {
      for (let turn = 1; !isOver; turn += 1) await change(path, turn);
    })();
    const refused = await blobs.addFromPath(path).finally(() => (isOver = true));
    await changing;
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'changed' } });
    expect(files()).toEqual([]);
  });

  it('refuses a file beyond the limit before it reads it', async () => {
    const { blobs } = await aBench({ maxBytes: MB });
    const path = join(await aFolder(), 'film');
    await writeFile(path, '');
    await truncate(path, 1024 ** 4);
    expect(await blobs.addFromPath(path)).toMatchObject({ ok: false, refusal: { code: 'too-large' } });
    expect(filesBelow(join(path, '..'))).toEqual(['film']);
  });
});

async function overwrite(path: string, turn: number): Promise<void> {
  const handle = await open(path, 'r+');
  await handle.write(Buffer.from([turn]), 0, 1, turn % 1000);
  await handle.close();
}
