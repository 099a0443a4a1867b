/**
 * Computes the time from the kill of a worker until the next attempt of its jobs starts. Pure.
 *
 * Only the time in which another worker could have claimed the job counts. Three times are excluded: the delay after
 * earlier crashes; the time until the end of a gap in which no process could write to the store (a process that is stopped
 * during a commit locks a SQLite file, and leases get their full length after it); and the time in which the next worker
 * was stopped itself.
 */

import type { HistoryRow } from '../../src/core/job/history.ts';
import { crashDelayMs } from '../../src/core/lifecycle/backoff.ts';
import type { Findings } from './fault-environment.ts';
import type { InjectedFaults } from './ledger.ts';

export interface Recovery {
  readonly ms: number;
  /** From the kill until the lease was lost, until the next claim, and until the next start, by the clock. */
  readonly parts: string;
}

export interface Recoveries {
  /** Shortest first. */
  readonly all: readonly Recovery[];
  /** Leases that were lost although their worker was not killed or stopped. */
  readonly lostAlive: number;
}

/** Under this load, some process writes every few milliseconds; such a gap means that none could. */
const SILENCE_MS = 500;

/** `epochOffset` converts the monotonic clock into the store's time. */
export function recoveriesOf(
  { histories, entries, runs }: Findings,
  faults: InjectedFaults,
  epochOffset: number,
): Recoveries {
  const pidOf = new Map(entries.flatMap(({ worker, pid }) => (worker === undefined ? [] : [[worker, pid] as const])));
  const startOf = new Map(runs.map((run) => [`${run.id} ${run.attempt}`, run.startedAt]));
  const writes = histories.flatMap(({ rows }) => rows.map(({ at }) => at - epochOffset)).sort((a, b) => a - b);
  const all: Recovery[] = [];
  let lostAlive = 0;
  for (const { job, rows } of histories) {
    for (const [crash, lost] of eventsOf(rows, 'lost').entries()) {
      const pid = pidOf.get(lost.by ?? '') ?? 0;
      const [killedAt] = faults.killedAt.get(pid) ?? [];
      if (killedAt === undefined && !faults.stopped.has(pid)) lostAlive += 1;
      const claim = eventsOf(rows, 'claimed').find(({ attempt }) => attempt === lost.attempt + 1);
      const startedAt = startOf.get(`${job.id} ${lost.attempt + 1}`);
      if (killedAt === undefined || claim === undefined || startedAt === undefined) continue;
      const [lostAt, claimedAt] = [lost.at - epochOffset, claim.at - epochOffset];
      if (lostAt < killedAt) continue;
      const takenAt = faults.stopped.has(pidOf.get(claim.by ?? '') ?? 0) ? claimedAt : startedAt;
      const ms = takenAt - endOfGaps(writes, killedAt, lostAt) - crashDelayMs(crash + 1);
      const parts = [lostAt, claimedAt, startedAt].map((at) => Math.round(at - killedAt)).join('/');
      all.push({ ms, parts });
    }
  }
  return { all: all.sort((a, b) => a.ms - b.ms), lostAlive };
}

/** Returns when the last gap between two times ended; the first time if there was none. */
function endOfGaps(writes: readonly number[], from: number, to: number): number {
  const isEnd = (write: number, place: number): boolean =>
    write > from && write <= to && write - (writes[place - 1] ?? write) > SILENCE_MS;
  return writes.findLast(isEnd) ?? from;
}

function eventsOf(rows: readonly HistoryRow[], event: HistoryRow['event']): readonly HistoryRow[] {
  return rows.filter((row) => row.event === event);
}
