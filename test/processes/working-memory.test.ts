/** The memory that the library adds to a process which works on a SQLite store, as the package is published. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder } from './blobs-workbench.ts';

/** The figure depends a little on the machine: the small size only catches a thread or a large module more. */
const LIMIT_MB = testSize({ small: 34, full: 30 });

async function residentMb(args: string[]): Promise<number> {
  const child = await startFixture('working-memory.mjs', args);
  const { mb } = await child.next(({ type }) => type === 'memory', 30_000);
  await child.ended;
  return Number(mb);
}

describe.skipIf(!existsSync('/proc/self/status'))('a process that works on SQLite', () => {
  it(`takes at most ${LIMIT_MB} MB of memory more than bare Node`, async () => {
    const bare = await residentMb([]);
    const working = [await residentMb([await aFolder()]), await residentMb([await aFolder()])];
    const more = Math.min(...working) - bare;
    process.stdout.write(`\nfigures: bare Node ${bare.toFixed(1)} MB, working on SQLite + ${more.toFixed(1)} MB\n`);
    expect(more).toBeLessThanOrEqual(LIMIT_MB);
  });
});
