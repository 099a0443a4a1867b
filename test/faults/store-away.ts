/**
 * The store away under load, for several leases: what every such run looks like, whatever keeps the store away.
 *
 * Long jobs run from before until after it; short ones come all the time. What is seen afterwards must hold for both
 * ways of `onUnreachable`: nothing is lost, nothing is done twice, and no two copies of a job ran at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { testSize } from '../support/test-size.ts';
import { type FaultEnvironment, type Findings, figuresOf, printFigures, until } from './fault-environment.ts';
import { type HandlerRun, longestOverlapMs, monotonicMs } from './ledger.ts';

export const AWAY_MS = testSize({ small: 8_000, full: 90_000 });
export const LEASE_MS = testSize({ small: 2_000, full: 10_000 });
export const STORE_AWAY_MS = AWAY_MS * 2 + 120_000;

const LONG_JOBS = 4;
const LONG_MS = AWAY_MS + LEASE_MS;
/** How late a mark may be written on a busy machine: the overlap of copies and the end of a lease are measured by marks. */
const GRACE_MS = 100;

export interface AwayRun {
  readonly name: string;
  readonly environment: FaultEnvironment;
  readonly onUnreachable: 'stop' | 'continue';
  /** Takes the store away; what it returns brings it back. */
  takeAway(): Promise<() => Promise<void>>;
}

export interface Away {
  readonly from: number;
  readonly to: number;
}

/** Several arenas over one store can be without it at the same time. */
export async function loseTheStore(runs: readonly AwayRun[]): Promise<void> {
  const adders = await Promise.all(runs.map(begin));
  await Promise.all(runs.map(({ environment }) => longJobsRun(environment)));
  const away = await beAway(runs);
  await sleep(LEASE_MS);
  for (const adder of adders) adder.send({});
  await Promise.all(adders.map((adder) => adder.next(({ type }) => type === 'added', 30_000)));
  await Promise.all(runs.map(({ environment }) => environment.drained(LONG_MS + 4 * LEASE_MS + 20_000)));
  await Promise.all(runs.map(({ environment }) => environment.closeProcesses()));
  for (const run of runs) check(run, await run.environment.findings(), away);
}

async function begin({ environment, onUnreachable }: AwayRun) {
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
    const starts = environment.marks().filter(({ mark, id }) => mark === 'start' && id?.startsWith('long-'));
    return starts.length === LONG_JOBS ? true : null;
  });
  // A renewal or two, so that their leases are no longer those of the claim.
  await sleep(LEASE_MS / 2);
}

async function beAway(runs: readonly AwayRun[]): Promise<Away> {
  const backs = await Promise.all(runs.map((run) => run.takeAway()));
  const from = monotonicMs();
  await sleep(AWAY_MS);
  const to = monotonicMs();
  await Promise.all(backs.map((bringBack) => bringBack()));
  return { from, to };
}

function check({ name, onUnreachable }: AwayRun, { verdict, runs, marks }: Findings, away: Away): void {
  const under = runs.filter((run) => run.startedAt < away.from && run.lastAt > away.from);
  const long = under.filter(({ id }) => id.startsWith('long-'));
  const overlapMs = longestOverlapMs(runs);
  const afterMs = marks.filter(({ mark, at }) => mark === 'start' && at > away.to).map(({ at }) => at - away.to);
  printFigures(`${name}, ${onUnreachable}`, {
    awayMs: away.to - away.from,
    leaseMs: LEASE_MS,
    ...figuresOf(verdict),
    runsWhenItWent: under.length,
    aborted: runs.filter(({ ending }) => ending === 'aborted').length,
    lastAbortMs: lastAbortMs(under, away),
    overlapMs,
    unanswered: marks.filter(({ mark }) => mark === 'unacked').length,
    nextStartMs: Math.min(...afterMs),
  });
  expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
  expect(overlapMs).toBeLessThanOrEqual(GRACE_MS);
  expect(long).toHaveLength(LONG_JOBS);
  if (onUnreachable === 'stop') stopped(long, away);
  else continued(long, runs);
}

/** Told to stop, and gone, before the lease could have ended: the last renewal was before the store went. */
function stopped(long: readonly HandlerRun[], away: Away): void {
  for (const run of long) expect(run).toMatchObject({ ending: 'aborted', abortReason: 'unreachable' });
  expect(lastAbortMs(long, away)).toBeLessThanOrEqual(LEASE_MS);
}

/** Went on to the end, and nobody else began them: their settlement was delivered afterwards. */
function continued(long: readonly HandlerRun[], runs: readonly HandlerRun[]): void {
  for (const run of long) {
    expect(run).toMatchObject({ ending: 'end', attempt: 1 });
    expect(runs.filter(({ id }) => id === run.id)).toHaveLength(1);
  }
}

function lastAbortMs(runs: readonly HandlerRun[], away: Away): number {
  const aborts = runs.filter(({ ending }) => ending === 'aborted').map(({ lastAt }) => lastAt - away.from);
  return aborts.length === 0 ? 0 : Math.max(...aborts);
}
