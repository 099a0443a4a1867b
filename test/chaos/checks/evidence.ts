/**
 * The evidence of a chaos run: what the processes wrote into their ledgers, what the store answers at the end, and which
 * faults were injected. The checks are pure functions of it.
 */
import type { Job } from '../../../src/core/job/job.ts';
import type { JobHistory } from '../../faults/check-history.ts';
import { type HandlerRun, type InjectedFaults, type Interval, type LedgerEntry, runsOf } from '../../faults/ledger.ts';

/** What a fault does to a process or to the store, as far as a check must know it. */
export type Effect = 'kill' | 'freeze' | 'clock' | 'disk' | 'power' | 'store' | 'network' | 'configuration';

export interface InjectedFault {
  readonly kind: string;
  readonly effect: Effect;
  /** Times of the monotonic clock, in ms. */
  readonly from: number;
  readonly to: number;
  /** The process that it hit; null: all of them, or none. */
  readonly pid: number | null;
  /** All processes that a power cut killed. */
  readonly pids?: readonly number[];
  /** The node through which the process that it hit reaches the store. */
  readonly nodePid?: number;
  readonly detail: string;
}

export interface StoredJob extends JobHistory {
  readonly job: JobHistory['job'] & Pick<Job, 'queue' | 'result'>;
}

export type StateCounts = Readonly<Record<Job['state'], number>>;

export interface Evidence {
  readonly entries: readonly LedgerEntry[];
  readonly faults: readonly InjectedFault[];
  /** All jobs of the store. */
  readonly jobs: readonly StoredJob[];
  /** What the store counts, by queue. */
  readonly counts: ReadonlyMap<string, StateCounts>;
  /** How many completions the statistics of a queue have. */
  readonly completions: ReadonlyMap<string, number>;
  /** The log of an attempt, by `id attempt`; empty if there is none. */
  readonly logs: ReadonlyMap<string, readonly string[]>;
  /** Processes of the run that were alive at its end. */
  readonly processesLeft: readonly string[];
}

export const CHECK_NAMES = [
  'lost',
  'twice',
  'overlap',
  'stuck',
  'thrown away',
  'history',
  'statistics',
  'limits',
  'log lines',
  'processes',
  'steps',
] as const;
export type CheckName = (typeof CHECK_NAMES)[number];

/** A broken promise. */
export interface Finding {
  readonly check: CheckName;
  readonly text: string;
}

export type Check = (evidence: Evidence) => readonly Finding[];

/** How late a process may act or write its ledger on a busy machine. */
export const GRACE_MS = 500;

/** Runs of handlers and scripts, without those that a step of the clock may have given to two workers. */
export function checkedRuns(evidence: Evidence): readonly HandlerRun[] {
  const clocks = evidence.faults.filter(({ effect }) => effect === 'clock');
  return runsOf(evidence.entries).filter((run) => !clocks.some((fault) => meets(run, fault)));
}

/** The run or its next attempt began while the clock was wrong. */
function meets(run: HandlerRun, { from, to }: Interval): boolean {
  return run.startedAt < to + GRACE_MS && run.lastAt > from;
}

/** Kills and freezes by process. */
export function processFaults({ faults }: Evidence): InjectedFaults {
  const killedAt = new Map<number, number[]>();
  const stopped = new Map<number, Interval[]>();
  const killed = (pid: number, at: number) => killedAt.set(pid, [...(killedAt.get(pid) ?? []), at]);
  for (const { effect, pid, pids = [], from, to } of [...faults].sort((a, b) => a.from - b.from)) {
    for (const each of pids) killed(each, from);
    if (pid === null) continue;
    if (effect === 'kill') killed(pid, from);
    if (effect === 'freeze') stopped.set(pid, [...(stopped.get(pid) ?? []), { from, to: to + GRACE_MS }]);
  }
  return { killedAt, stopped };
}
