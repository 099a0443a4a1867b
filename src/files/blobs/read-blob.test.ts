import { existsSync, readdirSync } from 'node:fs';
import { truncate } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { aBench, blobPath, bytesOf, flipBit, get, put, sha256Of } from '../../../test/processes/blobs-workbench.ts';

const MB = 1024 * 1024;
const PIECE = 256 * 1024;

describe('a read', () => {
  it('returns all bytes, or those from start to before end', async () => {
    const { blobs } = await aBench();
    const bytes = bytesOf(MB + 7);
    const sha256 = await put(blobs, bytes);
    const ranges = [
      [0, bytes.length],
      [0, 1],
      [1, 2],
      [PIECE - 1, PIECE + 1],
      [PIECE, 3 * PIECE],
      [MB, bytes.length],
      [5, 5],
      [bytes.length, bytes.length],
    ] as const;
    for (const [start, end] of ranges) {
      expect((await get(blobs, sha256, { start, end })).equals(bytes.subarray(start, end)), `${start}-${end}`).toBe(
        true,
      );
    }
    expect((await get(blobs, sha256, { start: 9 })).equals(bytes.subarray(9))).toBe(true);
    const beyond = await blobs.read(sha256, { start: 3, end: 10 * MB });
    expect(beyond).toMatchObject({ ok: true, start: 3, end: bytes.length, size: bytes.length });
    if (beyond.ok) beyond.stream.destroy();
  });

  it('refuses a missing blob and a bad range', async () => {
    const { blobs } = await aBench();
    const sha256 = await put(blobs, bytesOf(10));
    expect(await blobs.read(sha256Of(bytesOf(11)))).toMatchObject({ refusal: { code: 'not-found' } });
    for (const range of [{ start: 11 }, { start: -1 }, { start: 5, end: 4 }, { start: 0.5 }, { start: Number.NaN }]) {
      expect(await blobs.read(sha256, range)).toMatchObject({ ok: false, refusal: { code: 'out-of-range' } });
    }
  });

  it.each([1, 1000, PIECE, PIECE + 1, MB])(
    'of %d bytes with one wrong bit fails before the last byte',
    async (size) => {
      const { blobs, folder } = await aBench();
      const sha256 = await put(blobs, bytesOf(size));
      flipBit(blobPath(folder, sha256));
      const reading = await blobs.read(sha256);
      if (!reading.ok) throw new Error(reading.refusal.message);
      let read = 0;
      const draining = (async () => {
        for await (const piece of reading.stream) read += (piece as Buffer).length;
      })();
      await expect(draining).rejects.toMatchObject({ code: 'data-corrupt' });
      expect(read).toBeLessThan(size);
    },
  );

  it('of a truncated or longer blob fails', async () => {
    const { blobs, folder } = await aBench();
    const sha256 = await put(blobs, bytesOf(1000));
    for (const length of [0, 999, 1001]) {
      await truncate(blobPath(folder, sha256), length);
      await expect(get(blobs, sha256)).rejects.toMatchObject({ code: 'data-corrupt' });
    }
  });

  it.skipIf(!existsSync('/proc/self/fd'))(
    'applies backpressure, and closes its file when it is destroyed',
    async () => {
      const { blobs } = await aBench();
      const sha256 = await put(blobs, bytesOf(8 * MB));
      const openFiles = () => readdirSync('/proc/self/fd').length;
      const before = openFiles();
      const readings = await Promise.all([0, 1, 2].map(() => blobs.read(sha256)));
      const streams = readings.flatMap((reading) => (reading.ok ? [reading.stream] : []));
      const iterator = streams[0]?.[Symbol.asyncIterator]();
      await iterator?.next();
      expect(streams[0]?.readableLength ?? 0).toBeLessThanOrEqual(3 * PIECE);
      expect(openFiles()).toBe(before + 3);
      for (const stream of streams) stream.destroy();
      await expect.poll(openFiles, { timeout: 5_000, interval: 5 }).toBe(before);
      expect(await blobs.verify(sha256)).toBe('intact');
    },
  );
});
