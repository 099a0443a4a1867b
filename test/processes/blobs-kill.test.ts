/**
 * An upload whose process is killed with -9 at ten random offsets and then completes: the content is what was sent, and the
 * blob is not visible before it is complete.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBlobs } from '../../src/files/blobs/open-blobs.ts';
import { startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder, bytesOf, filesBelow, sha256Of } from './blobs-workbench.ts';

const SIZE = testSize({ small: 25_000_000, full: 200_000_000 });
const CUTS = 10;
const TIMEOUT_MS = testSize({ small: 60_000, full: 300_000 });

describe('an upload that is killed ten times', () => {
  it(
    'completes, and is never visible in part',
    async () => {
      const [folder, bytes] = [await aFolder(), bytesOf(SIZE, Date.now())];
      const [home, file, sha256] = [join(folder, 'blobs'), join(folder, 'sent'), sha256Of(bytes)];
      await writeFile(file, bytes);
      const cuts = Array.from({ length: CUTS }, () => Math.floor(Math.random() * SIZE)).sort((a, b) => a - b);
      const reached: number[] = [];
      for (const cut of cuts) {
        const uploader = await startFixture('blobs-uploader.mjs', [home, file, 'killed', sha256, String(cut)]);
        expect(await uploader.ended).toEqual({ code: null, signal: 'SIGKILL' });
        const upload = await (await openBlobs({ folder: home })).upload('killed');
        reached.push(upload?.offset ?? -1);
        expect(filesBelow(home)).toEqual(['uploads/killed.part']);
      }
      expect(reached).toEqual([...reached].sort((a, b) => a - b));

      const last = await startFixture('blobs-uploader.mjs', [home, file, 'killed', sha256]);
      expect(await last.next(({ type }) => type === 'finished', TIMEOUT_MS)).toMatchObject({ ok: true });
      const blobs = await openBlobs({ folder: home });
      expect(await blobs.verify(sha256)).toBe('intact');
      expect(await blobs.stat(sha256)).toEqual({ sha256, size: SIZE });
      process.stdout.write(`\nfigures: ${SIZE} bytes, killed with these offsets on disk: ${reached.join(', ')}\n`);
    },
    TIMEOUT_MS,
  );
});
