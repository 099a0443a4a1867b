/**
 * Many suspended jobs cost almost nothing while they sleep, and each of them wakes at its time. CPU time is that of the
 * worker's process, which contains SQLite, and of the Redis server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ConnectOptions } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { waitFor } from '../../src/testing/index.ts';
import type { Fixture } from '../support/processes.ts';
import { startFixture } from '../support/processes.ts';
import { isFullSize, testSize } from '../support/test-size.ts';
import { printFigures } from './fault-environment.ts';

const JOBS = testSize({ small: 200, full: 10_000 });
/** Until the first job wakes, so long that all are suspended and the measurement is over. */
const ASLEEP_MS = testSize({ small: 10_000, full: 80_000 });
const MEASURED_MS = testSize({ small: 200, full: 20_000 });
/** The wake times are spread over this time: the worker wakes 200 jobs a second. */
const WAKING_MS = testSize({ small: 500, full: 50_000 });
/** A small run shares its cores with other tests. */
const MAX_LATE_MS = testSize({ small: 10_000, full: 1_000 });
export const SLEEPING_JOBS_MS = ASLEEP_MS + WAKING_MS + 120_000;

export interface SleepingStore {
  readonly name: string;
  readonly address: string;
  readonly options: ConnectOptions;
  /** Returns the CPU time of the store's own process so far. */
  cpuMs(): Promise<number>;
}

export async function sleepWithoutCost({ name, address, options, cpuMs }: SleepingStore): Promise<void> {
  const longhaul = await connect(address, options);
  const queue = longhaul.queue<{ wakeAt: number; isSleep: boolean }, null>('sleeps');
  const firstAt = Date.now() + ASLEEP_MS;
  const wakeAts = Array.from({ length: JOBS }, (_, n) => firstAt + Math.round((n / JOBS) * WAKING_MS));
  await queue.addAll(wakeAts.map((wakeAt) => ({ wakeAt, isSleep: isFullSize })));
  const worker = await startFixture('sleeping-worker.mjs', [JSON.stringify({ address, connect: options, jobs: JOBS })]);
  await worker.next(({ type }) => type === 'suspended', ASLEEP_MS);
  // The handlers have ended; their settlements follow.
  await waitFor('all are suspended', async () => (await queue.count()).scheduled === JOBS);
  await longhaul.close();
  const [usedBefore, startedAt] = [(await cpuOf(worker)) + (await cpuMs()), Date.now()];
  await sleep(MEASURED_MS);
  const usedMs = (await cpuOf(worker)) + (await cpuMs()) - usedBefore;
  const percent = (100 * usedMs) / (Date.now() - startedAt);
  expect(Date.now()).toBeLessThan(firstAt);
  const { lateMs, suspended } = await worker.next(({ type }) => type === 'awake', SLEEPING_JOBS_MS);
  await worker.terminate();
  const late = (lateMs as number[]).toSorted((a, b) => a - b);
  const [median = 0, latest = 0] = [late[Math.floor(JOBS / 2)], late.at(-1)];
  printFigures(`sleeping jobs, ${name}`, { jobs: JOBS, percent: percent.toFixed(2), median, latest });
  expect([suspended, late.length]).toEqual([JOBS, JOBS]);
  expect(late[0]).toBeGreaterThanOrEqual(0);
  expect(latest).toBeLessThan(MAX_LATE_MS);
  if (isFullSize) expect(percent).toBeLessThan(1);
}

/** Returns the CPU time of the worker's process so far. */
async function cpuOf(worker: Fixture): Promise<number> {
  worker.send({});
  const { user, system } = await worker.next(({ type }) => type === 'cpu');
  return (Number(user) + Number(system)) / 1_000;
}
