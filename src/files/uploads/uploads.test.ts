import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  aBench,
  blobPath,
  bytesOf,
  cutAfter,
  flipBit,
  get,
  md5Of,
  piecesOf,
  put,
  sha256Of,
} from '../../../test/processes/blobs-workbench.ts';
import type { Blobs } from '../blobs/blobs.ts';

const MB = 1024 * 1024;

async function begun(blobs: Blobs): Promise<string> {
  const begin = await blobs.begin();
  if (!begin.ok) throw new Error(begin.refusal.message);
  return begin.upload.id;
}

/** A stream that yields the bytes and then hangs. */
function stalledAfter(bytes: Buffer): Readable {
  const stream = new Readable({ read: () => undefined });
  stream.push(bytes);
  return stream;
}

async function reaches(blobs: Blobs, id: string, offset: number): Promise<void> {
  await expect.poll(async () => (await blobs.upload(id))?.offset, { timeout: 5_000, interval: 5 }).toBe(offset);
}

describe('an upload', () => {
  it('becomes a blob at its finish and not before, readable by its owner alone', async () => {
    const { blobs, folder, files } = await aBench();
    const bytes = bytesOf(3 * MB + 17);
    const sha256 = sha256Of(bytes);
    const id = await begun(blobs);
    expect(await blobs.append(id, { offset: 0, source: piecesOf(bytes) })).toEqual({ ok: true, offset: bytes.length });
    expect(await blobs.stat(sha256)).toBeNull();
    expect(files()).toEqual([`uploads/${id}.part`]);

    const finished = await blobs.finish(id, { sha256, md5: md5Of(bytes), size: bytes.length });
    expect(finished).toEqual({ ok: true, blob: { sha256, size: bytes.length } });
    expect(sha256Of(await get(blobs, sha256))).toBe(sha256);
    expect(statSync(blobPath(folder, sha256)).mode & 0o777).toBe(0o600);
    for (const path of ['.', 'uploads', sha256.slice(0, 2)]) {
      expect([path, statSync(join(folder, path)).mode & 0o777]).toEqual([path, 0o700]);
    }
  });

  it('continues where it was cut, in parts of any size and across restarts', async () => {
    const bench = await aBench();
    const bytes = bytesOf(5 * MB + 3, 2);
    const id = await begun(bench.blobs);
    const cuts = [1, 4096, MB, MB + 1, 4 * MB, bytes.length];
    let offset = 0;
    for (const cut of cuts) {
      const blobs = await bench.reopen();
      const source = cutAfter(bytes.subarray(offset, cut));
      await expect(blobs.append(id, { offset, source })).rejects.toThrow('the line was cut');
      offset = (await blobs.upload(id))?.offset ?? 0;
      expect(offset).toBe(cut);
    }
    expect(await bench.blobs.finish(id)).toMatchObject({ ok: true, blob: { sha256: sha256Of(bytes) } });
  });

  it('refuses an append at a wrong offset, returns the right one, and stores nothing', async () => {
    const { blobs } = await aBench();
    const id = await begun(blobs);
    await blobs.append(id, { offset: 0, source: piecesOf(bytesOf(1000)) });
    for (const offset of [0, 999, 1001, -1, Number.NaN]) {
      const refused = await blobs.append(id, { offset, source: piecesOf(bytesOf(10)) });
      expect(refused).toMatchObject({ ok: false, refusal: { code: 'wrong-offset', offset: 1000 } });
    }
    expect(await blobs.finish(id)).toMatchObject({ blob: { sha256: sha256Of(bytesOf(1000)) } });
  });

  it.each([
    ['a wrong SHA-256', { sha256: sha256Of(bytesOf(1)) }, 'wrong-hash'],
    ['a wrong MD5', { md5: md5Of(bytesOf(1)) }, 'wrong-hash'],
    ['more bytes than announced', { size: 999 }, 'wrong-size'],
  ])('is refused with %s, and leaves nothing behind', async (_what, expected, code) => {
    const { blobs, files } = await aBench();
    const id = await begun(blobs);
    await blobs.append(id, { offset: 0, source: piecesOf(bytesOf(1000)) });
    expect(await blobs.finish(id, expected)).toMatchObject({ ok: false, refusal: { code } });
    expect(await blobs.upload(id)).toBeNull();
    expect(files()).toEqual([]);
  });

  it('with fewer bytes than announced is refused with the offset, and can continue', async () => {
    const { blobs } = await aBench();
    const bytes = bytesOf(1000);
    const id = await begun(blobs);
    await blobs.append(id, { offset: 0, source: piecesOf(bytes.subarray(0, 600)) });
    const refused = await blobs.finish(id, { size: 1000 });
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'wrong-size', offset: 600 } });
    await blobs.append(id, { offset: 600, source: piecesOf(bytes.subarray(600)) });
    expect(await blobs.finish(id, { size: 1000 })).toMatchObject({ ok: true, blob: { sha256: sha256Of(bytes) } });
  });

  it('returns the same result for a repeated finish, also after a restart', async () => {
    const bench = await aBench();
    const id = await begun(bench.blobs);
    await bench.blobs.append(id, { offset: 0, source: piecesOf(bytesOf(1000)) });
    const first = await bench.blobs.finish(id);
    const again = await bench.reopen();
    expect(await again.finish(id)).toEqual(first);
    expect(await again.finish(id, { size: 1000 })).toEqual(first);
    expect(await again.finish(id, { sha256: sha256Of(bytesOf(1)) })).toMatchObject({ refusal: { code: 'wrong-hash' } });
    expect(await again.begin({ id })).toMatchObject({ upload: { offset: 1000, blob: { size: 1000 } } });
    await again.discard(id);
    expect(await again.finish(id)).toMatchObject({ refusal: { code: 'not-found' } });
    expect(await again.begin({ id })).toMatchObject({ upload: { offset: 0, blob: null } });
  });

  it('is found again by the id of its caller', async () => {
    const { blobs } = await aBench();
    expect(await blobs.begin({ id: 'job7-film' })).toMatchObject({ ok: true, upload: { id: 'job7-film', offset: 0 } });
    await blobs.append('job7-film', { offset: 0, source: piecesOf(bytesOf(5)) });
    expect(await blobs.begin({ id: 'job7-film' })).toMatchObject({ ok: true, upload: { offset: 5, blob: null } });
  });

  it('without content becomes an empty blob', async () => {
    const { blobs } = await aBench();
    const id = await begun(blobs);
    expect(await blobs.finish(id, { size: 0 })).toMatchObject({
      ok: true,
      blob: { sha256: sha256Of(Buffer.alloc(0)) },
    });
    expect(await get(blobs, sha256Of(Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it('is taken over by a later append while the first one stalls', async () => {
    const { blobs } = await aBench();
    const bytes = bytesOf(2 * MB);
    const id = await begun(blobs);
    const stalled = stalledAfter(bytes.subarray(0, MB));
    const first = blobs.append(id, { offset: 0, source: stalled });
    await reaches(blobs, id, MB);
    const second = await blobs.append(id, { offset: MB, source: piecesOf(bytes.subarray(MB)) });
    expect(second).toEqual({ ok: true, offset: 2 * MB });
    expect(await first).toMatchObject({ ok: false, refusal: { code: 'superseded' } });
    expect(stalled.destroyed).toBe(true);
    expect(await blobs.finish(id)).toMatchObject({ blob: { sha256: sha256Of(bytes) } });
  });

  it('accepts one of several concurrent appends', async () => {
    const { blobs } = await aBench();
    const bytes = bytesOf(MB);
    const id = await begun(blobs);
    const both = await Promise.all([0, 1, 2].map(() => blobs.append(id, { offset: 0, source: piecesOf(bytes) })));
    const { offset = 0 } = (await blobs.upload(id)) ?? {};
    expect(offset).toBeGreaterThan(0);
    expect(both.filter(({ ok }) => ok).length).toBeLessThanOrEqual(1);
    if (offset < bytes.length) await blobs.append(id, { offset, source: piecesOf(bytes.subarray(offset)) });
    expect(await blobs.finish(id)).toMatchObject({ blob: { sha256: sha256Of(bytes) } });
  });

  it('ends with its signal or with close, and keeps the received bytes', async () => {
    const { blobs, reopen } = await aBench();
    const id = await begun(blobs);
    const ending = new AbortController();
    const first = blobs.append(id, { offset: 0, source: stalledAfter(bytesOf(MB)), signal: ending.signal });
    await reaches(blobs, id, MB);
    ending.abort();
    await expect(first).rejects.toThrow('aborted');
    const second = blobs.append(id, { offset: MB, source: stalledAfter(bytesOf(MB)) });
    await reaches(blobs, id, 2 * MB);
    await blobs.close();
    expect(await second).toMatchObject({ refusal: { code: 'superseded' } });
    await expect(blobs.append(id, { offset: 0, source: piecesOf(bytesOf(1)) })).rejects.toMatchObject({
      code: 'store-closed',
    });
    expect(await (await reopen()).upload(id)).toMatchObject({ offset: 2 * MB });
  });

  it('that is too large is refused at its announcement, otherwise when it exceeds the limit', async () => {
    const { blobs, files } = await aBench({ maxBytes: MB });
    expect(await blobs.begin({ size: MB + 1 })).toMatchObject({ refusal: { code: 'too-large' } });
    const id = await begun(blobs);
    const refused = await blobs.append(id, { offset: 0, source: piecesOf(bytesOf(MB + 1)) });
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'too-large' } });
    expect(files()).toEqual([]);
    expect(await blobs.begin({ size: MB })).toMatchObject({ ok: true });
  });

  it('is refused as store-full before a byte is sent when it would use up the reserve', async () => {
    const { blobs } = await aBench({ reserveBytes: Number.MAX_SAFE_INTEGER - 1, maxBytes: 10 });
    await expect(blobs.begin({ size: 1 })).rejects.toMatchObject({ code: 'store-full' });
    await expect(blobs.addFromStream(piecesOf(bytesOf(1)))).rejects.toMatchObject({ code: 'store-full' });
  });

  it('that was never begun is not found, and an invalid id is bad input', async () => {
    const { blobs } = await aBench();
    expect(await blobs.upload('none')).toBeNull();
    expect(await blobs.append('none', { offset: 0, source: piecesOf(bytesOf(1)) })).toMatchObject({
      refusal: { code: 'not-found' },
    });
    expect(await blobs.finish('none')).toMatchObject({ refusal: { code: 'not-found' } });
    for (const id of ['../x', '', 'a/b', 'a.part', 'x'.repeat(129)]) {
      await expect(blobs.begin({ id })).rejects.toMatchObject({ code: 'bad-input' });
      await expect(blobs.append(id, { offset: 0, source: piecesOf(bytesOf(1)) })).rejects.toMatchObject({
        code: 'bad-input',
      });
    }
    await expect(blobs.finish('x', { sha256: 'nonsense', md5: 'x', size: -1 })).rejects.toMatchObject({
      problems: [{ path: 'sha256' }, { path: 'md5' }, { path: 'size' }],
    });
    await expect(blobs.stat('../../etc/passwd')).rejects.toMatchObject({ code: 'bad-input' });
  });
});

describe('the same content twice', () => {
  it('is one blob, and repairs a damaged one', async () => {
    const { blobs, folder, files } = await aBench();
    const sha256 = await put(blobs, bytesOf(1000));
    await put(blobs, bytesOf(1000));
    expect(files()).toEqual([`${sha256.slice(0, 2)}/${sha256}`]);
    flipBit(blobPath(folder, sha256));
    expect(await blobs.verify(sha256)).toBe('damaged');
    await put(blobs, bytesOf(1000));
    expect(await blobs.verify(sha256)).toBe('intact');
    expect((await stat(blobPath(folder, sha256))).size).toBe(1000);
  });
});
