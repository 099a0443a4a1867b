import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aBench, blobPath, bytesOf, flipBit, get, md5Of, put } from '../../../test/processes/blobs-workbench.ts';

describe('the scrub', () => {
  it('finds a wrong bit in every file, at any position', async () => {
    const { blobs, folder } = await aBench();
    const sizes = Array.from({ length: 60 }, (_, place) => 1 + place * place * 37);
    const hashes = await Promise.all(sizes.map((size) => put(blobs, bytesOf(size, size))));
    expect(await blobs.scrub()).toMatchObject({ blobs: 60, findings: [] });
    for (const sha256 of hashes) flipBit(blobPath(folder, sha256));
    const { findings } = await blobs.scrub();
    expect(findings.map(({ kind, path }) => [kind, path.slice(3)])).toEqual(
      [...hashes].sort().map((sha256) => ['damaged', sha256]),
    );
    for (const sha256 of hashes) {
      expect(await blobs.verify(sha256)).toBe('damaged');
      await expect(get(blobs, sha256)).rejects.toMatchObject({ code: 'data-corrupt' });
    }
  });

  it('reports foreign files, open permissions and progress, and can be aborted', async () => {
    const { blobs, folder } = await aBench();
    const sha256 = await put(blobs, bytesOf(10));
    await chmod(blobPath(folder, sha256), 0o644);
    await writeFile(join(folder, 'notes.txt'), '');
    await writeFile(join(folder, sha256.slice(0, 2), 'f'.repeat(64)), '');
    const seen: unknown[] = [];
    const { findings } = await blobs.scrub({ onProgress: (done) => seen.push(done) });
    expect(findings).toContainEqual({ kind: 'open', path: `${sha256.slice(0, 2)}/${sha256}` });
    expect(findings).toContainEqual({ kind: 'foreign', path: 'notes.txt' });
    expect(findings.length).toBe(sha256.startsWith('ff') ? 2 : 3);
    expect(seen).toEqual([{ blobs: 1, bytes: 10 }]);
    await expect(blobs.scrub({ signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  });
});

describe('the MD5 of a blob', () => {
  it('is computed once and stored, and a damaged file is never used', async () => {
    const { blobs, folder } = await aBench();
    const bytes = bytesOf(100_000);
    const sha256 = await put(blobs, bytes);
    const note = `${blobPath(folder, sha256)}.md5`;
    expect(await blobs.md5(sha256)).toEqual({ ok: true, md5: md5Of(bytes) });
    const line = await readFile(note, 'utf8');
    for (let place = 0; place < 300; place += 7) {
      await writeFile(note, line);
      flipBit(note, place);
      expect(await blobs.md5(sha256)).toEqual({ ok: true, md5: md5Of(bytes) });
    }
    expect(await readFile(note, 'utf8')).toBe(line);
    await writeFile(note, '');
    expect(await blobs.md5(sha256)).toEqual({ ok: true, md5: md5Of(bytes) });
  });

  it('of a damaged or missing blob is refused', async () => {
    const { blobs, folder } = await aBench();
    const sha256 = await put(blobs, bytesOf(100));
    flipBit(blobPath(folder, sha256));
    await expect(blobs.md5(sha256)).rejects.toMatchObject({ code: 'data-corrupt' });
    await rm(blobPath(folder, sha256));
    expect(await blobs.md5(sha256)).toMatchObject({ refusal: { code: 'not-found' } });
    expect(await blobs.verify(sha256)).toBe('missing');
  });
});
