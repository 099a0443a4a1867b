/**
 * Workers are killed with -9, stopped for longer than their lease, or stopped just before they settle, and producers are
 * killed while they add, at random and under load. The same run over each durable store.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { isFullSize, testSize } from '../support/test-size.ts';
import { type FaultEnvironment, figuresOf, printFigures, printSeed } from './fault-environment.ts';
import { longestOverlapMs, monotonicMs } from './ledger.ts';
import { Nemesis } from './nemesis.ts';
import { recoveriesOf } from './recovery.ts';
import { openRandom, type SeededRandom } from './seeded-random.ts';

export const LEASE_MS = 1_000;
export const FAULTS_MS = testSize({ small: 9_000, full: 120_000 });
/** Jobs that crash repeatedly wait longer each time. */
const DRAIN_MS = isFullSize ? 240_000 : 70_000;
export const KILLED_WORKERS_MS = FAULTS_MS + DRAIN_MS + 60_000;
const RECOVERY_MS = LEASE_MS + 2_000;
/** How late a worker may learn on a busy machine that it lost its lease. */
const GRACE_MS = 500;

export async function surviveKills(environment: FaultEnvironment, store: string): Promise<void> {
  const random = openRandom();
  printSeed(`killed workers, ${store}`, random);
  const nemesis = new Nemesis({ environment, random, plan: { work: { concurrency: 12 } }, freezeMs: LEASE_MS * 1.5 });
  await nemesis.startWorkers(4);
  const [adders] = await Promise.all([killProducers(environment, random), nemesis.run(FAULTS_MS)]);
  await environment.drained(DRAIN_MS);
  await nemesis.settled();
  await environment.closeProcesses();

  const findings = await environment.findings();
  const { verdict, entries, runs } = findings;
  const { all: recoveries, lostAlive } = recoveriesOf(findings, nemesis, Date.now() - monotonicMs());
  const slowest = recoveries.at(-1);
  const refused = entries.filter(({ type, answer }) => type === 'answered' && answer === 'lease-lost').length;
  const overlapMs = longestOverlapMs(runs, nemesis);
  printFigures(`killed workers, ${store}`, {
    seed: random.seed,
    ...figuresOf(verdict),
    runs: runs.length,
    kills: nemesis.killedAt.size,
    killedAdders: adders - 1,
    freezes: nemesis.freezes,
    stops: nemesis.stops,
    refused,
    lostAlive,
    overlapMs,
    recoveries: recoveries.length,
    recoveryP50Ms: recoveries[recoveries.length >> 1]?.ms ?? 0,
    recoveryP100Ms: slowest?.ms ?? 0,
    slowestLostClaimedStarted: slowest?.parts ?? '',
  });
  expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
  expect(slowest?.ms).toBeLessThanOrEqual(RECOVERY_MS);
  expect(overlapMs).toBeLessThanOrEqual(GRACE_MS);
  // Without these events the test proves nothing.
  expect(Math.min(verdict.reruns, verdict.takeovers, verdict.fencedLate, refused, recoveries.length)).toBeGreaterThan(
    0,
  );
}

/** Runs producers one after the other; all but the last are killed while they add. */
async function killProducers(environment: FaultEnvironment, random: SeededRandom): Promise<number> {
  const load = { kind: 'steady', everyMs: 40, atOnce: 20, maxMs: 500, freezeEvery: 40, isPersistent: true };
  const start = (number: number) => environment.startAdder({ ...load, prefix: `k${number}` });
  const endAt = monotonicMs() + FAULTS_MS;
  let adder = await start(1);
  for (let adders = 1; ; adders++) {
    adder.send({});
    // The next producer starts before this one is killed, so that the workers always have jobs.
    const [next] = await Promise.all([start(adders + 1), sleep(random.between(1_500, 3_500))]);
    if (monotonicMs() >= endAt) {
      await next.kill9();
      adder.send({});
      await adder.next(({ type }) => type === 'added', 30_000);
      return adders;
    }
    await adder.kill9();
    adder = next;
  }
}

/** A worker is frozen from just before it settles until another worker runs its job or has completed it. */
export async function fenceFrozenWorker(
  environment: FaultEnvironment,
  store: string,
  otherIs: 'running' | 'done',
): Promise<void> {
  const id = 'frozen';
  const frozen = await environment.startWorker();
  await environment.add(id, { freeze: true, againMs: otherIs === 'running' ? 2 * LEASE_MS : 0 });
  await frozen.next(({ type }) => type === 'frozen');
  const other = await environment.startWorker({ reportsStarts: true });
  await other.next((message) => message['type'] === 'start' && message['id'] === id, RECOVERY_MS + 2_000);
  if (otherIs === 'done') await environment.drained(5_000);
  frozen.cont();
  const result = await environment.longhaul.finished<number>(id, { signal: AbortSignal.timeout(10_000) });
  await environment.closeProcesses();

  const { verdict, entries, histories } = await environment.findings();
  const answers = entries.filter(({ type, id: of }) => type === 'answered' && of === id);
  expect(verdict).toMatchObject({ problems: [], left: 0, done: 1, fencedLate: 1, takeovers: 1 });
  expect(Object.fromEntries(answers.map(({ pid, answer }) => [pid, answer]))).toEqual({
    [frozen.pid]: 'lease-lost',
    [other.pid]: 'ok',
  });
  const kept = { state: 'done', attempt: 2, crashes: 1, failures: 0, result: String(result) };
  expect(histories.map(({ job }) => job)).toMatchObject([kept]);
  expect(entries.find(({ type, pid }) => type === 'end' && pid === other.pid)?.token).toBe(result);
  const figures = { refused: 'lease-lost', lateRows: verdict.fencedLate, accepted: 1 };
  printFigures(`frozen before it settles, ${store}, job ${otherIs} elsewhere`, figures);
}
