/** One side of a comparison: an attempt of a job. */
import type { AttemptView } from '../../../src/wire/attempt-view.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import type { CallError } from '../data/call.ts';
import { useLocation } from '../data/location.ts';
import { useQuery } from '../data/use-query.ts';

export interface Run {
  readonly job: JobView;
  /** Undefined if this node has no data of the attempt. */
  readonly attempt: AttemptView | undefined;
  /** The attempt number; 0 for a job that never ran. */
  readonly number: number;
}

export const comparePath = (a: RunName, b: RunName): string =>
  `compare?${new URLSearchParams({ a: a.id, b: b.id, ...numberOf('a', a), ...numberOf('b', b) })}`;

interface RunName {
  readonly id: string;
  /** The latest attempt by default. */
  readonly attempt?: number;
}

function numberOf(side: Side, { attempt }: RunName): Record<string, string> {
  return attempt === undefined ? {} : { [`${side}Attempt`]: String(attempt) };
}

export type Side = 'a' | 'b';

export interface RunQuery {
  readonly id: string;
  readonly run: Run | undefined;
  readonly error: CallError | null;
}

export function useRun(side: Side): RunQuery {
  const { query } = useLocation();
  const id = query.get(side) ?? '';
  const path = id === '' ? null : `api/jobs/${encodeURIComponent(id)}`;
  const concerns = (event: { type: string; id?: string }) => event.id === id && event.type !== 'progress';
  const job = useQuery<JobView>(path, { concerns });
  const attempts = useQuery<{ attempts: readonly AttemptView[] }>(path === null ? null : `${path}/attempts`, {
    concerns,
  });
  if (job.data === undefined || attempts.data === undefined) return { id, run: undefined, error: job.error };
  const number = Number(query.get(`${side}Attempt`)) || job.data.attempt;
  const attempt = attempts.data.attempts.find((each) => each.attempt === number);
  return { id, error: null, run: { job: job.data, attempt, number } };
}
