/** The memory that the library adds to a process which works on a SQLite store, as the package is published. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startFixture } from '../support/processes.ts';
import { aFolder } from './blobs-workbench.ts';

/** Without pages of files (test/fixtures/working-memory.mjs): those of Node itself are shared by its processes. */
const LIMIT_MB = 26;

interface Memory {
  readonly mb: number;
  readonly residentMb: number;
}

async function memoryOf(args: string[]): Promise<Memory> {
  const child = await startFixture('working-memory.mjs', args);
  const memory = await child.next(({ type }) => type === 'memory', 30_000);
  await child.ended;
  return { mb: Number(memory['mb']), residentMb: Number(memory['residentMb']) };
}

describe.skipIf(!existsSync('/proc/self/status'))('a process that works on SQLite', () => {
  it(`takes at most ${LIMIT_MB} MB of memory more than bare Node`, async () => {
    const [bare, working] = [await memoryOf([]), await memoryOf([await aFolder()])];
    const [more, residentMore] = [working.mb - bare.mb, working.residentMb - bare.residentMb];
    process.stdout.write(
      `\nfigures: bare Node ${bare.mb.toFixed(1)} MB, working on SQLite + ${more.toFixed(1)} MB; ` +
        `with pages of files ${bare.residentMb.toFixed(1)} MB, + ${residentMore.toFixed(1)} MB\n`,
    );
    expect(more).toBeGreaterThan(5);
    expect(more).toBeLessThanOrEqual(LIMIT_MB);
  });
});
