import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { appendFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  aBench,
  aFolder,
  blobPath,
  bytesOf,
  filesBelow,
  flipBit,
  put,
  sha256Of,
} from '../../../test/processes/blobs-workbench.ts';

const MB = 1024 * 1024;
const otherDisk = '/dev/shm';
const isOther = () => {
  try {
    return statSync(otherDisk).dev !== statSync('.').dev;
  } catch {
    return false;
  }
};

describe('staging', () => {
  it('gives the script a copy of its own, which it may change', async () => {
    const { blobs } = await aBench();
    const bytes = bytesOf(MB + 1);
    const sha256 = await put(blobs, bytes);
    for (const attempt of [1, 2]) {
      const folder = await aFolder();
      const staged = await blobs.stage({ sha256, folder, name: 'film.mov' });
      expect(staged).toMatchObject({ ok: true, path: join(folder, 'film.mov'), size: bytes.length });
      expect(sha256Of(readFileSync(join(folder, 'film.mov'))), `attempt ${attempt}`).toBe(sha256);
      appendFileSync(join(folder, 'film.mov'), 'and more');
      flipBit(join(folder, 'film.mov'));
      expect(await blobs.verify(sha256)).toBe('intact');
    }
  });

  it('by link uses no space, and a change by the script is detected', async () => {
    const { blobs, folder: home } = await aBench();
    const sha256 = await put(blobs, bytesOf(MB));
    const folder = await aFolder();
    const staged = await blobs.stage({ sha256, folder, name: 'film.mov', mode: 'link' });
    expect(staged).toMatchObject({ ok: true, by: 'link', size: MB });
    expect(statSync(join(folder, 'film.mov')).ino).toBe(statSync(blobPath(home, sha256)).ino);
    expect(await blobs.verify(sha256)).toBe('intact');
    await appendFile(join(folder, 'film.mov'), 'x');
    expect(await blobs.verify(sha256)).toBe('damaged');
    await expect(blobs.stage({ sha256, folder, name: 'again', mode: 'link' })).rejects.toMatchObject({
      code: 'data-corrupt',
    });
  });

  it.skipIf(!isOther())('by link into another file system is a copy', async () => {
    const { blobs } = await aBench();
    const sha256 = await put(blobs, bytesOf(MB));
    const folder = await mkdtemp(join(otherDisk, 'longhaul-blobs-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    expect(await blobs.stage({ sha256, folder, name: 'a', mode: 'link' })).toMatchObject({ ok: true, by: 'copy' });
    expect(sha256Of(readFileSync(join(folder, 'a')))).toBe(sha256);
  });

  it('never stages a damaged blob, nor leaves a part of one', async () => {
    const { blobs, folder: home } = await aBench();
    const sha256 = await put(blobs, bytesOf(MB));
    flipBit(blobPath(home, sha256));
    const folder = await aFolder();
    for (const mode of ['copy', 'link'] as const) {
      await expect(blobs.stage({ sha256, folder, name: 'a', mode })).rejects.toMatchObject({ code: 'data-corrupt' });
    }
    expect(filesBelow(folder)).toEqual([]);
  });

  it('never replaces a file, follows a link or leaves the directory', async () => {
    const { blobs } = await aBench();
    const sha256 = await put(blobs, bytesOf(100));
    const folder = await aFolder();
    const elsewhere = join(await aFolder(), 'target');
    await writeFile(join(folder, 'taken'), 'mine');
    await symlink(elsewhere, join(folder, 'link'));
    for (const name of ['taken', 'link', '../a', '/a', '..', '.', '', 'a\0', 'a/b']) {
      for (const mode of ['copy', 'link'] as const) {
        await expect(blobs.stage({ sha256, folder, name, mode })).rejects.toMatchObject({ code: 'bad-input' });
      }
    }
    expect(readFileSync(join(folder, 'taken'), 'utf8')).toBe('mine');
    expect(filesBelow(folder)).toEqual(['link', 'taken']);
    expect(filesBelow(join(elsewhere, '..'))).toEqual([]);
  });

  it('of a missing blob is refused', async () => {
    const { blobs } = await aBench();
    const staging = { sha256: sha256Of(bytesOf(1)), folder: await aFolder(), name: 'a' };
    expect(await blobs.stage(staging)).toMatchObject({ ok: false, refusal: { code: 'not-found' } });
  });
});
