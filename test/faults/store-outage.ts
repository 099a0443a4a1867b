/**
 * An outage of the store under load, for several leases: the common part of the outage tests.
 *
 * Long jobs run from before the outage until after it; short ones are added all the time. For both values of
 * `onUnreachable`, no job is lost, none is completed twice, and no two runs of a job overlap.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { testSize } from '../support/test-size.ts';
import { type FaultEnvironment, type Findings, figuresOf, printFigures, until } from './fault-environment.ts';
import { type HandlerRun, longestOverlapMs, monotonicMs } from './ledger.ts';

export const OUTAGE_MS = testSize({ small: 8_000, full: 90_000 });
export const LEASE_MS = testSize({ small: 2_000, full: 10_000 });
export const STORE_OUTAGE_MS = OUTAGE_MS * 2 + 120_000;

const LONG_JOBS = 4;
const LONG_MS = OUTAGE_MS + LEASE_MS;
/** How late a ledger entry may be on a busy machine: overlaps and lease ends are measured by entries. */
const GRACE_MS = 100;

export interface OutageRun {
  readonly name: string;
  readonly environment: FaultEnvironment;
  readonly onUnreachable: 'stop' | 'continue';
  /** Makes the store unavailable. Returns a function that ends the outage. */
  disconnect(): Promise<() => Promise<void>>;
}

export interface Outage {
  readonly from: number;
  readonly to: number;
}

/** Several environments can share one outage. */
export async function surviveOutage(runs: readonly OutageRun[]): Promise<void> {
  const adders = await Promise.all(runs.map(begin));
  await Promise.all(runs.map(({ environment }) => longJobsRun(environment)));
  const outage = await interrupt(runs);
  await sleep(LEASE_MS);
  for (const adder of adders) adder.send({});
  await Promise.all(adders.map((adder) => adder.next(({ type }) => type === 'added', 30_000)));
  await Promise.all(runs.map(({ environment }) => environment.drained(LONG_MS + 4 * LEASE_MS + 20_000)));
  await Promise.all(runs.map(({ environment }) => environment.closeProcesses()));
  for (const run of runs) check(run, await run.environment.findings(), outage);
}

async function begin({ environment, onUnreachable }: OutageRun) {
  const [adder] = await Promise.all([
    environment.startAdder({ kind: 'steady', prefix: 's', everyMs: 50, atOnce: 10, maxMs: 300, isPersistent: true }),
    environment.startWorkers(2, { work: { concurrency: 6, onUnreachable } }),
  ]);
  for (let place = 0; place < LONG_JOBS; place++) await environment.add(`long-${place}`, { ms: LONG_MS, againMs: 200 });
  adder.send({});
  return adder;
}

async function longJobsRun(environment: FaultEnvironment): Promise<void> {
  await until('the long jobs run', 20_000, () => {
    const starts = environment.ledgerEntries().filter(({ type, id }) => type === 'start' && id?.startsWith('long-'));
    return starts.length === LONG_JOBS ? true : null;
  });
  // Time for a heartbeat or two, so that their leases were renewed.
  await sleep(LEASE_MS / 2);
}

async function interrupt(runs: readonly OutageRun[]): Promise<Outage> {
  const reconnects = await Promise.all(runs.map((run) => run.disconnect()));
  const from = monotonicMs();
  await sleep(OUTAGE_MS);
  const to = monotonicMs();
  await Promise.all(reconnects.map((reconnect) => reconnect()));
  return { from, to };
}

function check({ name, onUnreachable }: OutageRun, { verdict, runs, entries }: Findings, outage: Outage): void {
  const under = runs.filter((run) => run.startedAt < outage.from && run.lastAt > outage.from);
  const long = under.filter(({ id }) => id.startsWith('long-'));
  const overlapMs = longestOverlapMs(runs);
  const afterMs = entries.filter(({ type, at }) => type === 'start' && at > outage.to).map(({ at }) => at - outage.to);
  printFigures(`${name}, ${onUnreachable}`, {
    outageMs: outage.to - outage.from,
    leaseMs: LEASE_MS,
    ...figuresOf(verdict),
    interruptedRuns: under.length,
    aborted: runs.filter(({ outcome }) => outcome === 'aborted').length,
    lastAbortMs: lastAbortMs(under, outage),
    overlapMs,
    unanswered: entries.filter(({ type }) => type === 'unacked').length,
    nextStartMs: Math.min(...afterMs),
  });
  expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
  expect(overlapMs).toBeLessThanOrEqual(GRACE_MS);
  expect(long).toHaveLength(LONG_JOBS);
  if (onUnreachable === 'stop') stopped(long, outage);
  else continued(long, runs);
}

/** Aborted and ended before the lease could end: the last heartbeat was before the outage. */
function stopped(long: readonly HandlerRun[], outage: Outage): void {
  for (const run of long) expect(run).toMatchObject({ outcome: 'aborted', abortReason: 'unreachable' });
  expect(lastAbortMs(long, outage)).toBeLessThanOrEqual(LEASE_MS);
}

/** Ran to the end, and no other worker started them: their settlements were delivered afterwards. */
function continued(long: readonly HandlerRun[], runs: readonly HandlerRun[]): void {
  for (const run of long) {
    expect(run).toMatchObject({ outcome: 'end', attempt: 1 });
    expect(runs.filter(({ id }) => id === run.id)).toHaveLength(1);
  }
}

function lastAbortMs(runs: readonly HandlerRun[], outage: Outage): number {
  const aborts = runs.filter(({ outcome }) => outcome === 'aborted').map(({ lastAt }) => lastAt - outage.from);
  return aborts.length === 0 ? 0 : Math.max(...aborts);
}
