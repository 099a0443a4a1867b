/**
 * The primary is killed with -9 under load, with `replicated:1`: the common part of the failover tests.
 *
 * No acknowledged job is lost. Workers follow `onUnreachable` while there is no primary. Listeners receive the events of
 * the new primary.
 */
import { expect, onTestFinished } from 'vitest';
import type { Fleet, FleetOptions } from '../support/redis-fleet.ts';
import { testSize } from '../support/test-size.ts';
import {
  type FaultEnvironment,
  type Findings,
  figuresOf,
  openFaultEnvironment,
  printFigures,
  until,
} from './fault-environment.ts';
import { type HandlerRun, type LedgerEntry, longestOverlapMs, monotonicMs } from './ledger.ts';

const ROUNDS = testSize({ small: 1, full: 10 });
const LEASE_MS = 3_000;
/** A failover takes longer than a lease, so that workers with `onUnreachable: stop` must stop. */
const DOWN_AFTER_MS = 5_000;
/** More jobs than one worker runs at once, so that both get some. */
const LONG = { jobs: 6, ms: 12_000, atOnce: 4 };
const MAX_SETS = 5;
const GRACE_MS = 100;
export const FAILOVER_MS = ROUNDS * 90_000;

export type StartFleet = (options: FleetOptions) => Promise<Fleet>;

export async function failOver(name: string, start: StartFleet): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    // After the promotion of one replica, the other one can confirm writes.
    const fleet = await start({ replicas: 2, downAfterMs: DOWN_AFTER_MS });
    onTestFinished(() => fleet.stop());
    await failOverOnce(name, fleet);
    await fleet.stop();
  }
}

async function failOverOnce(name: string, fleet: Fleet): Promise<void> {
  const connect = { namespace: 'failover', durability: 'replicated:1' };
  const environment = await openFaultEnvironment({ address: fleet.address, connect, settings: { lease: LEASE_MS } });
  const received = listen(environment);
  const load = { kind: 'steady', prefix: 's', everyMs: 5, atOnce: 50, maxMs: 20, isPersistent: true };
  const [adder, stopping, continuing] = await Promise.all([
    environment.startAdder(load),
    environment.startWorker({ work: { concurrency: LONG.atOnce, onUnreachable: 'stop' } }),
    environment.startWorker({ work: { concurrency: LONG.atOnce, onUnreachable: 'continue' } }),
  ]);
  let longSince = await startLong(environment, 0);
  adder.send({});
  await until('short jobs are done', 30_000, () => (isBusy(environment.ledgerEntries(), 20) ? true : null));
  // On a slow machine they may have ended by now, or nearly: then start another set.
  for (let set = 1; set < MAX_SETS && monotonicMs() - longSince > LONG.ms / 2; set++)
    longSince = await startLong(environment, set);
  const lost = await fleet.primary();
  await lost.kill9();
  const killedAt = monotonicMs();
  await fleet.promoted(lost);
  const promotedMs = monotonicMs() - killedAt;
  await until('new jobs are done', 30_000, () =>
    isBusy(environment.ledgerEntries(), 20, killedAt + promotedMs) ? true : null,
  );
  adder.send({});
  await adder.next(({ type }) => type === 'added', 30_000);
  await environment.drained(LONG.ms + 30_000);
  await expectEvents(environment, received);
  await environment.drained(10_000);
  await environment.closeProcesses();
  check(await environment.findings(), {
    name,
    killedAt,
    promotedMs,
    stopping: stopping.pid,
    continuing: continuing.pid,
  });
}

interface Failover {
  readonly name: string;
  readonly killedAt: number;
  readonly promotedMs: number;
  /** Pids of the workers with `onUnreachable` stop and continue. */
  readonly stopping: number;
  readonly continuing: number;
}

function check(
  { verdict, runs, entries }: Findings,
  { name, killedAt, promotedMs, stopping, continuing }: Failover,
): void {
  const interrupted = (of: number): readonly HandlerRun[] =>
    runs.filter(({ id, pid, startedAt, lastAt }) => {
      return id.startsWith('long-') && pid === of && startedAt < killedAt && lastAt > killedAt;
    });
  const [stopped, continued] = [interrupted(stopping), interrupted(continuing)];
  const unacked = (code: string): number =>
    entries.filter((entry) => entry.type === 'unacked' && entry.code === code).length;
  const overlapMs = longestOverlapMs(runs);
  const abortMs = Math.max(...stopped.map(({ lastAt }) => lastAt - killedAt));
  printFigures(name, {
    promotedMs,
    ...figuresOf(verdict),
    stopped: stopped.length,
    abortMs,
    continued: continued.length,
    overlapMs,
    unknown: unacked('outcome-unknown'),
    unavailable: unacked('store-unavailable'),
  });
  expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
  expect(overlapMs).toBeLessThanOrEqual(GRACE_MS);
  expect(Math.min(stopped.length, continued.length)).toBeGreaterThan(0);
  for (const run of stopped) expect(run).toMatchObject({ outcome: 'aborted', abortReason: 'unreachable' });
  expect(abortMs).toBeLessThanOrEqual(LEASE_MS);
  for (const { id, outcome } of continued) {
    expect(outcome).toBe('end');
    expect(runs.filter((run) => run.id === id)).toHaveLength(1);
  }
}

/** Starts long jobs, and returns the start time of the first. */
async function startLong(environment: FaultEnvironment, set: number): Promise<number> {
  const prefix = `long-${set}-`;
  for (let place = 0; place < LONG.jobs; place++) await addWithRetries(environment, `${prefix}${place}`);
  const starts = () => environment.ledgerEntries().filter(({ type, id }) => type === 'start' && id?.startsWith(prefix));
  await until('the long jobs run', 60_000, () => (starts().length >= LONG.jobs ? true : null));
  return Math.min(...starts().map(({ at }) => at));
}

/** Repeats the add: on a busy machine the replicas may confirm too late. */
async function addWithRetries(environment: FaultEnvironment, id: string): Promise<void> {
  await until('a long job is added', 20_000, () =>
    environment.add(id, { ms: LONG.ms, againMs: 200 }).then(
      () => true,
      () => null,
    ),
  );
}

function isBusy(entries: readonly LedgerEntry[], count: number, after = 0): boolean {
  return entries.filter(({ type, at, answer }) => type === 'answered' && at > after && answer === 'ok').length >= count;
}

function listen({ longhaul }: FaultEnvironment): ReadonlySet<string> {
  const received = new Set<string>();
  const unsubscribe = longhaul.store.jobs.subscribe((events) => {
    for (const { id } of events) received.add(id);
  });
  onTestFinished(unsubscribe);
  return received;
}

/** Expects that the subscription was renewed without a call. */
async function expectEvents(environment: FaultEnvironment, received: ReadonlySet<string>): Promise<void> {
  await environment.add('after');
  await until('a listener receives its event', 10_000, () => (received.has('after') ? true : null));
}
