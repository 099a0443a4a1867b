/** How long it took from the kill of a worker until the next attempt of a job that it held had begun. Pure. */
import { crashDelayMs } from '../../src/core/backoff.ts';
import type { HistoryRow } from '../../src/core/history.ts';
import type { Findings } from './arena.ts';
import type { Harm } from './witness.ts';

export interface Recovery {
  readonly ms: readonly number[];
  /** Leases that were lost though nobody killed or stopped their worker. */
  readonly lostAlive: number;
}

/** A job that crashed before waits longer by rule; that time is taken off. */
export function recoveryOf({ stories, marks, runs }: Findings, harm: Harm): Recovery {
  const pidOf = new Map(marks.flatMap(({ worker, pid }) => (worker === undefined ? [] : [[worker, pid] as const])));
  const startOf = new Map(runs.map((run) => [`${run.id} ${run.attempt}`, run.startedAt]));
  const ms: number[] = [];
  let lostAlive = 0;
  for (const { job, rows } of stories) {
    for (const [crash, row] of lostRows(rows).entries()) {
      const pid = pidOf.get(row.by ?? '') ?? 0;
      const killedAt = harm.killedAt.get(pid);
      const againAt = startOf.get(`${job.id} ${row.attempt + 1}`);
      if (killedAt !== undefined && againAt !== undefined && againAt > killedAt) {
        ms.push(againAt - killedAt - crashDelayMs(crash + 1));
      }
      if (killedAt === undefined && !harm.stopped.has(pid)) lostAlive += 1;
    }
  }
  return { ms: ms.sort((a, b) => a - b), lostAlive };
}

function lostRows(rows: readonly HistoryRow[]): readonly HistoryRow[] {
  return rows.filter(({ event }) => event === 'lost');
}
