/** A handler reads and attaches large files within a small amount of memory, in a data directory and over HTTP. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FilesBench } from '../server-files/files-bench.ts';
import { itIf } from '../support/it-if.ts';
import { startFixture } from '../support/processes.ts';
import { isFullSize, testSize } from '../support/test-size.ts';
import { aFolder } from './blobs-workbench.ts';

const SIZE = testSize({ small: 80_000_000, full: 1_000_000_000 });
const LIMIT_MB = 64;
const TIMEOUT_MS = testSize({ small: 60_000, full: 300_000 });
/** For the reason in blobs-memory.test.ts. The fixture collects garbage itself: on a busy machine 66 MB waited for V8 to do so. */
const OWN_GC = ['--single-threaded-gc', '--expose-gc'];
const canMeasure = existsSync(join('/proc', 'self', 'clear_refs'));

describe.skipIf(!canMeasure)(`${SIZE / 1e6} MB read and attached by a handler`, () => {
  const bench = new FilesBench();
  const growthAt = async (address: string): Promise<Record<string, number>> => {
    const args = [address, String(SIZE), await aFolder()];
    const child = await startFixture('attach-memory.mjs', args, { execArgv: OWN_GC });
    const { growth, before } = await child.next(({ type }) => type === 'done', TIMEOUT_MS);
    process.stdout.write(`\nfigures: ${SIZE} bytes, ${String(before)} MB grown by ${JSON.stringify(growth)} MB\n`);
    return growth as Record<string, number>;
  };

  it(`take no more than ${LIMIT_MB} MB of memory in a data directory`, { timeout: TIMEOUT_MS }, async () => {
    const growth = await growthAt(await aFolder());
    for (const grown of Object.values(growth)) expect(grown).toBeLessThanOrEqual(LIMIT_MB);
  });

  // Only at full size: the transfers over HTTP take seconds, and uploads.test.ts measures the node.
  itIf(isFullSize)(`take no more than ${LIMIT_MB} MB of memory over HTTP`, { timeout: TIMEOUT_MS }, async () => {
    await bench.start();
    const growth = await growthAt(bench.url);
    for (const grown of Object.values(growth)) expect(grown).toBeLessThanOrEqual(LIMIT_MB);
  });
});
