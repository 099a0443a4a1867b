import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aBench, aFolder, bytesOf, get, makeFifo, sha256Of } from '../../../test/processes/blobs-workbench.ts';

const isRoot = process.getuid?.() === 0;

async function anOut(): Promise<string> {
  const out = join(await aFolder(), 'out');
  mkdirSync(out);
  return out;
}

describe('collecting outputs', () => {
  it('collects every regular file, also in subdirectories', async () => {
    const { blobs } = await aBench();
    const out = await anOut();
    mkdirSync(join(out, 'a', 'b'), { recursive: true });
    mkdirSync(join(out, 'empty'));
    const contents = { 'z.txt': bytesOf(0), 'a/b/film.mov': bytesOf(100_000), 'a/same.mov': bytesOf(100_000) };
    for (const [path, bytes] of Object.entries(contents)) writeFileSync(join(out, path), bytes);
    const { outputs, refused } = await blobs.collect(out);
    expect(refused).toEqual([]);
    const inOrder = Object.entries(contents).sort(([a], [b]) => (a < b ? -1 : 1));
    expect(outputs).toEqual(inOrder.map(([path, bytes]) => ({ path, sha256: sha256Of(bytes), size: bytes.length })));
    for (const { sha256 } of outputs) expect(sha256Of(await get(blobs, sha256))).toBe(sha256);
    expect(await blobs.collect(out)).toMatchObject({ outputs, refusedCount: 0 });
  });

  it('reports symlinks, hard links, FIFOs and sockets, and neither collects nor blocks on them', async () => {
    const { blobs, files } = await aBench();
    const out = await anOut();
    const secret = join(out, '..', 'secret');
    writeFileSync(secret, 'secret');
    mkdirSync(join(out, '..', 'elsewhere'));
    writeFileSync(join(out, '..', 'elsewhere', 'file'), 'secret');
    symlinkSync(secret, join(out, 'symlink'));
    symlinkSync('../elsewhere', join(out, 'folder-link'));
    symlinkSync('nowhere', join(out, 'dangling'));
    await link(secret, join(out, 'hard'));
    makeFifo(join(out, 'fifo'));
    const server = createServer().listen(join(out, 'socket'));
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    writeFileSync(join(out, 'good'), 'good');
    const { outputs, refused } = await blobs.collect(out);
    expect(outputs.map(({ path }) => path)).toEqual(['good']);
    expect(refused).toEqual([
      { path: 'dangling', reason: 'is a symbolic link' },
      { path: 'fifo', reason: 'is a FIFO' },
      { path: 'folder-link', reason: 'is a symbolic link' },
      { path: 'hard', reason: 'has 1 further hard links' },
      { path: 'socket', reason: 'is a socket' },
      { path: 'symlink', reason: 'is a symbolic link' },
    ]);
    expect(files().length).toBe(1);
  });

  it.skipIf(!isRoot)('reports devices and files of other users', async () => {
    const { blobs } = await aBench();
    const out = await anOut();
    spawnSync('mknod', [join(out, 'zero'), 'c', '1', '5']);
    writeFileSync(join(out, 'theirs'), 'x');
    chownSync(join(out, 'theirs'), 12_345, 12_345);
    expect(await blobs.collect(out)).toMatchObject({
      outputs: [],
      refused: [
        { path: 'theirs', reason: 'belongs to user 12345, not 0' },
        { path: 'zero', reason: 'is a device' },
      ],
    });
    expect(await blobs.collect(out, { owner: 12_345 })).toMatchObject({ outputs: [{ path: 'theirs' }] });
  });

  it('reports invalid names, and all names that look alike', async () => {
    const { blobs } = await aBench();
    const out = await anOut();
    const bad = ['a\nb', 'end.', '.tmp-1', 'con', 'a\\b', '..x'];
    for (const name of [...bad, 'caf\u00e9', 'cafe\u0301', 'good']) writeFileSync(join(out, name), name);
    spawnSync('bash', ['-c', `printf x > "$1"/$'\\xff'`, 'bash', out]);
    const { outputs, refused } = await blobs.collect(out);
    expect(outputs.map(({ path }) => path)).toEqual(['good']);
    expect(refused.map(({ path }) => path).sort()).toEqual([...bad, 'caf\u00e9', 'cafe\u0301', '\ufffd'].sort());
  });

  it('stops at the limits of number and bytes, and reports the rest', async () => {
    const { blobs } = await aBench();
    const out = await anOut();
    for (const name of ['1', '2', '3', '4', '5']) writeFileSync(join(out, name), bytesOf(100));
    const few = await blobs.collect(out, { maxFiles: 2 });
    expect(few.outputs.map(({ path }) => path)).toEqual(['1', '2']);
    expect(few.refused.map(({ path }) => path)).toEqual(['3', '4', '5']);
    const small = await blobs.collect(out, { maxBytes: 350 });
    expect(small.outputs.length).toBe(3);
    expect(small.refusedCount).toBe(2);
  });

  it('ends in a very deep directory', async () => {
    const { blobs } = await aBench();
    const out = await anOut();
    mkdirSync(join(out, ...Array.from({ length: 60 }, () => 'd')), { recursive: true });
    expect(await blobs.collect(out)).toMatchObject({ outputs: [], refusedCount: 1 });
  });

  it('finds nothing without a directory, and reports a file in its place', async () => {
    const { blobs } = await aBench();
    const out = await anOut();
    await rm(out, { recursive: true });
    expect(await blobs.collect(out)).toEqual({ outputs: [], refused: [], refusedCount: 0 });
    symlinkSync('/etc', out);
    expect(await blobs.collect(out)).toMatchObject({
      outputs: [],
      refused: [{ path: '', reason: 'is not a directory' }],
    });
  });
});
