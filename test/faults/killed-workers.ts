/**
 * Workers killed with -9, stopped for longer than their lease, or stopped just before they settle, and producers killed
 * while they add, at random and under load: the same run over each durable store.
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
export const RAGE_MS = testSize({ small: 9_000, full: 120_000 });
/** Jobs that were killed again and again wait longer each time, by rule. */
const DRAIN_MS = isFullSize ? 240_000 : 70_000;
export const KILLED_WORKERS_MS = RAGE_MS + DRAIN_MS + 60_000;
const RECOVERY_MS = LEASE_MS + 2_000;
/** What a busy machine may need until a worker that lost its lease has heard of it. */
const GRACE_MS = 500;

export async function surviveKills(environment: FaultEnvironment, store: string): Promise<void> {
  const random = openRandom();
  printSeed(`killed workers, ${store}`, random);
  const nemesis = new Nemesis({ environment, random, plan: { work: { concurrency: 12 } }, freezeMs: LEASE_MS * 1.5 });
  await nemesis.hire(4);
  const [adders] = await Promise.all([addAndDie(environment, random), nemesis.rage(RAGE_MS)]);
  await environment.drained(DRAIN_MS);
  await nemesis.settled();
  await environment.closeProcesses();

  const findings = await environment.findings();
  const { verdict, marks, runs } = findings;
  const { all: recoveries, lostAlive } = recoveriesOf(findings, nemesis, Date.now() - monotonicMs());
  const slowest = recoveries.at(-1);
  const refused = marks.filter(({ mark, answer }) => mark === 'answered' && answer === 'lease-lost').length;
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
  // Without these the run has proved nothing, whatever it found.
  expect(Math.min(verdict.reruns, verdict.takeovers, verdict.fencedLate, refused, recoveries.length)).toBeGreaterThan(
    0,
  );
}

/** Producers, one after the other: all but the last are killed in the middle of their adding. */
async function addAndDie(environment: FaultEnvironment, random: SeededRandom): Promise<number> {
  const load = { kind: 'steady', everyMs: 40, atOnce: 20, maxMs: 500, freezeEvery: 40, isPersistent: true };
  const start = (number: number) => environment.startAdder({ ...load, prefix: `k${number}` });
  const endAt = monotonicMs() + RAGE_MS;
  let adder = await start(1);
  for (let adders = 1; ; adders++) {
    adder.send({});
    // The next one is there before this one goes, so that the workers are never without work.
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

/** A worker stands still from just before it settles until somebody else has its job: still running, or done already. */
export async function fenceTheFrozen(
  environment: FaultEnvironment,
  store: string,
  otherIs: 'running' | 'done',
): Promise<void> {
  const id = 'frozen';
  const frozen = await environment.startWorker();
  await environment.add(id, { freeze: true, againMs: otherIs === 'running' ? 2 * LEASE_MS : 0 });
  await frozen.next(({ type }) => type === 'frozen');
  const other = await environment.startWorker({ isTelling: true });
  await other.next((message) => message['type'] === 'start' && message['id'] === id, RECOVERY_MS + 2_000);
  if (otherIs === 'done') await environment.drained(5_000);
  frozen.cont();
  const result = await environment.longhaul.finished<number>(id, { signal: AbortSignal.timeout(10_000) });
  await environment.closeProcesses();

  const { verdict, marks, stories } = await environment.findings();
  const answers = marks.filter(({ mark, id: of }) => mark === 'answered' && of === id);
  expect(verdict).toMatchObject({ problems: [], left: 0, done: 1, fencedLate: 1, takeovers: 1 });
  expect(Object.fromEntries(answers.map(({ pid, answer }) => [pid, answer]))).toEqual({
    [frozen.pid]: 'lease-lost',
    [other.pid]: 'ok',
  });
  const kept = { state: 'done', attempt: 2, crashes: 1, failures: 0, result: String(result) };
  expect(stories.map(({ job }) => job)).toMatchObject([kept]);
  expect(marks.find(({ mark, pid }) => mark === 'end' && pid === other.pid)?.token).toBe(result);
  const figures = { refused: 'lease-lost', lateRows: verdict.fencedLate, accepted: 1 };
  printFigures(`frozen before it settles, ${store}, the other ${otherIs}`, figures);
}
