/** A handler that logs a lot delays neither itself nor others. */
import { expect, it } from 'vitest';
import { startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';

const ADDED_MS = 5;

it('10 MB/s of log lines into a data directory raise the p99 delay of the event loop by less than 5 ms', async () => {
  const { rounds, roundMs } = testSize({ small: { rounds: 2, roundMs: 700 }, full: { rounds: 5, roundMs: 5_000 } });
  const fixture = await startFixture('log-rate.mjs', [String(rounds), String(roundMs)]);
  const measured = await fixture.next(({ type }) => type === 'measured', 90_000);
  const { addedMs, megabytesPerSecond } = measured as unknown as { addedMs: number; megabytesPerSecond: number };
  process.stdout.write(`\nfigures: ${addedMs.toFixed(2)} ms added at ${megabytesPerSecond.toFixed(1)} MB/s\n`);
  expect(megabytesPerSecond).toBeGreaterThan(8);
  expect(addedMs).toBeLessThan(ADDED_MS);
});
