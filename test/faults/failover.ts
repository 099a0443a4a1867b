/**
 * The primary killed with -9 under load, with `replicated:1`: what every such run looks like, whoever promotes another.
 *
 * Nothing that was acked is lost; workers stop or go on as they were told while there is no primary; listeners hear of
 * what happens at the new one.
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
import { type HandlerRun, longestOverlapMs, type Mark, monotonicMs } from './ledger.ts';

const ROUNDS = testSize({ small: 1, full: 10 });
const LEASE_MS = 3_000;
/** A primary is missed only after more than a lease, so that whoever is told to stop has to. */
const MISSED_AFTER_MS = 5_000;
/** More of them than one worker takes, so that both have some. */
const LONG = { jobs: 6, ms: 12_000, atOnce: 4 };
const MOST_SETS = 5;
const GRACE_MS = 100;
export const FAILOVER_MS = ROUNDS * 90_000;

export type StartFleet = (options: FleetOptions) => Promise<Fleet>;

export async function failOver(name: string, start: StartFleet): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    // Of two replicas, one is left to confirm what the other one takes in.
    const fleet = await start({ replicas: 2, downAfterMs: MISSED_AFTER_MS });
    onTestFinished(() => fleet.stop());
    await failOverOnce(name, fleet);
    await fleet.stop();
  }
}

async function failOverOnce(name: string, fleet: Fleet): Promise<void> {
  const connect = { namespace: 'failover', durability: 'replicated:1' };
  const environment = await openFaultEnvironment({ address: fleet.address, connect, settings: { lease: LEASE_MS } });
  const heard = listen(environment);
  const load = { kind: 'steady', prefix: 's', everyMs: 5, atOnce: 50, maxMs: 20, isPersistent: true };
  const [adder, obedient, stubborn] = await Promise.all([
    environment.startAdder(load),
    environment.startWorker({ work: { concurrency: LONG.atOnce, onUnreachable: 'stop' } }),
    environment.startWorker({ work: { concurrency: LONG.atOnce, onUnreachable: 'continue' } }),
  ]);
  let longSince = await startLong(environment, 0);
  adder.send({});
  await until('short jobs are done', 30_000, () => (isBusy(environment.marks(), 20) ? true : null));
  // On a slow machine they may have ended by now, or nearly: then there are others.
  for (let set = 1; set < MOST_SETS && monotonicMs() - longSince > LONG.ms / 2; set++)
    longSince = await startLong(environment, set);
  const lost = await fleet.primary();
  await lost.kill9();
  const killedAt = monotonicMs();
  await fleet.promoted(lost);
  const promotedMs = monotonicMs() - killedAt;
  await until('new jobs are done', 30_000, () =>
    isBusy(environment.marks(), 20, killedAt + promotedMs) ? true : null,
  );
  adder.send({});
  await adder.next(({ type }) => type === 'added', 30_000);
  await environment.drained(LONG.ms + 30_000);
  await hearsOf(environment, heard);
  await environment.drained(10_000);
  await environment.closeProcesses();
  check(await environment.findings(), { name, killedAt, promotedMs, obedient: obedient.pid, stubborn: stubborn.pid });
}

interface Told {
  readonly name: string;
  readonly killedAt: number;
  readonly promotedMs: number;
  /** Pids of the worker that was to stop and of the one that was to go on. */
  readonly obedient: number;
  readonly stubborn: number;
}

function check({ verdict, runs, marks }: Findings, { name, killedAt, promotedMs, obedient, stubborn }: Told): void {
  const underWay = (of: number): readonly HandlerRun[] =>
    runs.filter(({ id, pid, startedAt, lastAt }) => {
      return id.startsWith('long-') && pid === of && startedAt < killedAt && lastAt > killedAt;
    });
  const [stopped, continued] = [underWay(obedient), underWay(stubborn)];
  const unacked = (code: string): number =>
    marks.filter((mark) => mark.mark === 'unacked' && mark.code === code).length;
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
  for (const run of stopped) expect(run).toMatchObject({ ending: 'aborted', abortReason: 'unreachable' });
  expect(abortMs).toBeLessThanOrEqual(LEASE_MS);
  for (const { id, ending } of continued) {
    expect(ending).toBe('end');
    expect(runs.filter((run) => run.id === id)).toHaveLength(1);
  }
}

/** Starts long jobs, and answers since when the first of them runs. */
async function startLong(environment: FaultEnvironment, set: number): Promise<number> {
  const prefix = `long-${set}-`;
  for (let place = 0; place < LONG.jobs; place++) await addPatiently(environment, `${prefix}${place}`);
  const starts = () => environment.marks().filter(({ mark, id }) => mark === 'start' && id?.startsWith(prefix));
  await until('the long jobs run', 60_000, () => (starts().length >= LONG.jobs ? true : null));
  return Math.min(...starts().map(({ at }) => at));
}

/** On a busy machine the replicas may be too slow for one try. */
async function addPatiently(environment: FaultEnvironment, id: string): Promise<void> {
  await until('a long job is added', 20_000, () =>
    environment.add(id, { ms: LONG.ms, againMs: 200 }).then(
      () => true,
      () => null,
    ),
  );
}

function isBusy(marks: readonly Mark[], count: number, after = 0): boolean {
  return marks.filter(({ mark, at, answer }) => mark === 'answered' && at > after && answer === 'ok').length >= count;
}

function listen({ longhaul }: FaultEnvironment): ReadonlySet<string> {
  const heard = new Set<string>();
  const hear = longhaul.store.jobs.subscribe((events) => {
    for (const { id } of events) heard.add(id);
  });
  onTestFinished(hear);
  return heard;
}

/** The subscription of before was made again, by nobody's asking. */
async function hearsOf(environment: FaultEnvironment, heard: ReadonlySet<string>): Promise<void> {
  await environment.add('after');
  await until('a listener hears of it', 10_000, () => (heard.has('after') ? true : null));
}
