/** The SQLite file locked by a foreign program for several leases, and a worker that stands still while it writes. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder, figuresOf, openFaultEnvironment, printFigures, printSeed } from './fault-environment.ts';
import { type Interval, longestOverlapMs, type Mark, monotonicMs } from './ledger.ts';
import { openRandom } from './seeded-random.ts';
import { AWAY_MS, type AwayRun, LEASE_MS, loseTheStore, STORE_AWAY_MS } from './store-away.ts';

describe(`a SQLite file that is locked for ${AWAY_MS / 1_000} s`, () => {
  it(
    'loses nothing, and its workers stop or go on as they were told',
    async () => {
      await loseTheStore([await lockedRun('stop'), await lockedRun('continue')]);
    },
    STORE_AWAY_MS,
  );
});

async function lockedRun(onUnreachable: 'stop' | 'continue'): Promise<AwayRun> {
  const address = aFolder();
  const environment = await openFaultEnvironment({ address, settings: { lease: LEASE_MS } });
  const locker = await startFixture('proof-locker.mjs', [join(address, 'store.db')]);
  const turn = async (to: string): Promise<void> => {
    locker.send({});
    await locker.next(({ type }) => type === to, 15_000);
  };
  const takeAway = async () => {
    await turn('locked');
    return () => turn('unlocked');
  };
  return { name: 'SQLite locked', environment, onUnreachable, takeAway };
}

const STOPS = testSize({ small: 3, full: 30 });
const STOP_MS = 2_500;

/** A process that is stopped in the middle of a commit keeps the file locked, and nobody can write until it goes on. */
describe('a worker that is stopped while it writes to a SQLite file', () => {
  it(
    'may hold up the others, and costs nobody anything else',
    async () => {
      const random = openRandom();
      printSeed('SQLite worker stopped', random);
      const environment = await openFaultEnvironment({ address: aFolder(), settings: { lease: 1_000 } });
      const adder = await environment.startAdder({ kind: 'steady', prefix: 'w', everyMs: 1, atOnce: 40, maxMs: 40 });
      const [still, other] = await environment.startWorkers(2, { work: { concurrency: 40 } });
      adder.send({});
      const stops: Interval[] = [];
      for (let stop = 0; stop < STOPS; stop++) {
        await sleep(random.between(300, 900));
        still?.stop();
        const from = monotonicMs();
        await sleep(STOP_MS);
        stops.push({ from, to: monotonicMs() });
        still?.cont();
      }
      adder.send({});
      await adder.next(({ type }) => type === 'added', 30_000);
      await environment.drained(30_000);
      await environment.closeProcesses();

      const { verdict, runs, marks } = await environment.findings();
      const overlapMs = longestOverlapMs(runs, { killedAt: new Map(), stopped: new Map([[still?.pid ?? 0, stops]]) });
      printFigures('SQLite worker stopped', {
        seed: random.seed,
        stops: stops.length,
        heldUp: stops.filter((stop) => isQuiet(stop, marks, other?.pid)).length,
        ...figuresOf(verdict),
        overlapMs,
      });
      expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
      expect(overlapMs).toBeLessThanOrEqual(100);
    },
    STOPS * STOP_MS * 2 + 90_000,
  );
});

/** Whether this process began nothing in the second half of the stop. */
function isQuiet({ from, to }: Interval, marks: readonly Mark[], pid: number | undefined): boolean {
  const middle = (from + to) / 2;
  return !marks.some(({ mark, at, pid: of }) => mark === 'start' && of === pid && at > middle && at < to);
}
