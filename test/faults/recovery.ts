/**
 * How long it took from the kill of a worker until the next attempt of a job that it held had begun. Pure.
 *
 * Counted is the time in which somebody could have taken it. So three things are taken off: what a job must wait by rule
 * because it crashed before; a time in which nobody could write to the store at all (a process that stands still in the
 * middle of a commit locks a SQLite file); and the time in which the process that took it stood still itself.
 */

import type { HistoryRow } from '../../src/core/job/history.ts';
import { crashDelayMs } from '../../src/core/lifecycle/backoff.ts';
import type { Findings } from './fault-environment.ts';
import type { Harm } from './ledger.ts';

export interface Recovery {
  readonly ms: number;
  /** From the kill until the lease was overtaken, until the next claim, until the next start, as the clock has it. */
  readonly parts: string;
}

export interface Recoveries {
  /** The shortest first. */
  readonly all: readonly Recovery[];
  /** Leases that were lost though nobody killed or stopped their worker. */
  readonly lostAlive: number;
}

/** Under this load somebody writes every few milliseconds; such a gap means that nobody could. */
const SILENCE_MS = 500;

/** `epochOffset` turns the machine's monotonic clock into the store's time. */
export function recoveriesOf({ stories, marks, runs }: Findings, harm: Harm, epochOffset: number): Recoveries {
  const pidOf = new Map(marks.flatMap(({ worker, pid }) => (worker === undefined ? [] : [[worker, pid] as const])));
  const startOf = new Map(runs.map((run) => [`${run.id} ${run.attempt}`, run.startedAt]));
  const writes = stories.flatMap(({ rows }) => rows.map(({ at }) => at - epochOffset)).sort((a, b) => a - b);
  const all: Recovery[] = [];
  let lostAlive = 0;
  for (const { job, rows } of stories) {
    for (const [crash, lost] of eventsOf(rows, 'lost').entries()) {
      const pid = pidOf.get(lost.by ?? '') ?? 0;
      const killedAt = harm.killedAt.get(pid);
      if (killedAt === undefined && !harm.stopped.has(pid)) lostAlive += 1;
      const claim = eventsOf(rows, 'claimed').find(({ attempt }) => attempt === lost.attempt + 1);
      const startedAt = startOf.get(`${job.id} ${lost.attempt + 1}`);
      if (killedAt === undefined || claim === undefined || startedAt === undefined) continue;
      const [lostAt, claimedAt] = [lost.at - epochOffset, claim.at - epochOffset];
      if (lostAt < killedAt) continue;
      const takenAt = harm.stopped.has(pidOf.get(claim.by ?? '') ?? 0) ? claimedAt : startedAt;
      const ms = takenAt - killedAt - crashDelayMs(crash + 1) - silenceBefore(writes, lostAt);
      const parts = [lostAt, claimedAt, startedAt].map((at) => Math.round(at - killedAt)).join('/');
      all.push({ ms, parts });
    }
  }
  return { all: all.sort((a, b) => a.ms - b.ms), lostAlive };
}

function silenceBefore(writes: readonly number[], at: number): number {
  const before = writes.findLast((write) => write < at - 1) ?? at;
  return at - before > SILENCE_MS ? at - before : 0;
}

function eventsOf(rows: readonly HistoryRow[], event: HistoryRow['event']): readonly HistoryRow[] {
  return rows.filter((row) => row.event === event);
}
