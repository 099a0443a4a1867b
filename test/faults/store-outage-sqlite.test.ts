/** A SQLite file that another program locks for several leases, and a worker that is stopped while it writes. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder, figuresOf, openFaultEnvironment, printFigures, printSeed } from './fault-environment.ts';
import { type Interval, type LedgerEntry, longestOverlapMs, monotonicMs } from './ledger.ts';
import { openRandom } from './seeded-random.ts';
import { LEASE_MS, OUTAGE_MS, type OutageRun, STORE_OUTAGE_MS, surviveOutage } from './store-outage.ts';

describe(`a SQLite file that is locked for ${OUTAGE_MS / 1_000} s`, () => {
  it(
    'loses no job, and its workers follow onUnreachable',
    async () => {
      await surviveOutage([await lockedRun('stop'), await lockedRun('continue')]);
    },
    STORE_OUTAGE_MS,
  );
});

async function lockedRun(onUnreachable: 'stop' | 'continue'): Promise<OutageRun> {
  const address = aFolder();
  const environment = await openFaultEnvironment({ address, settings: { lease: LEASE_MS } });
  const locker = await startFixture('sqlite-locker.mjs', [join(address, 'store.db')]);
  const turn = async (to: string): Promise<void> => {
    locker.send({});
    await locker.next(({ type }) => type === to, 15_000);
  };
  const disconnect = async () => {
    await turn('locked');
    return () => turn('unlocked');
  };
  return { name: 'SQLite locked', environment, onUnreachable, disconnect };
}

const STOPS = testSize({ small: 3, full: 30 });
const STOP_MS = 2_500;

/** A process that is stopped during a commit keeps the file locked: no other process can write until it continues. */
describe('a worker that is stopped while it writes to a SQLite file', () => {
  it(
    'may block the others, without any other effect',
    async () => {
      const random = openRandom();
      printSeed('SQLite worker stopped', random);
      const environment = await openFaultEnvironment({ address: aFolder(), settings: { lease: 1_000 } });
      const adder = await environment.startAdder({ kind: 'steady', prefix: 'w', everyMs: 1, atOnce: 40, maxMs: 40 });
      const [stopped, other] = await environment.startWorkers(2, { work: { concurrency: 40 } });
      adder.send({});
      const stops: Interval[] = [];
      for (let stop = 0; stop < STOPS; stop++) {
        await sleep(random.between(300, 900));
        stopped?.stop();
        const from = monotonicMs();
        await sleep(STOP_MS);
        stops.push({ from, to: monotonicMs() });
        stopped?.cont();
      }
      adder.send({});
      await adder.next(({ type }) => type === 'added', 30_000);
      await environment.drained(30_000);
      await environment.closeProcesses();

      const { verdict, runs, entries } = await environment.findings();
      const overlapMs = longestOverlapMs(runs, { killedAt: new Map(), stopped: new Map([[stopped?.pid ?? 0, stops]]) });
      printFigures('SQLite worker stopped', {
        seed: random.seed,
        stops: stops.length,
        blocked: stops.filter((stop) => isQuiet(stop, entries, other?.pid)).length,
        ...figuresOf(verdict),
        overlapMs,
      });
      expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
      expect(overlapMs).toBeLessThanOrEqual(100);
    },
    STOPS * STOP_MS * 2 + 90_000,
  );
});

/** Whether this process started no job in the second half of the stop. */
function isQuiet({ from, to }: Interval, entries: readonly LedgerEntry[], pid: number | undefined): boolean {
  const middle = (from + to) / 2;
  return !entries.some(({ type, at, pid: of }) => type === 'start' && of === pid && at > middle && at < to);
}
