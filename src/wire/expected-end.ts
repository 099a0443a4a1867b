/**
 * When a running job is expected to end, and by what: its own progress so far, how long jobs of its queue usually run,
 * or both, its own progress counting the more the further it is.
 */
import type { Job } from '../core/job/job.ts';
import type { UsualRun } from './usual-run.ts';

type Running = Pick<Job, 'lease' | 'progress'>;

/** By its progress alone; null when that says nothing. */
export function expectedEnd({ lease, progress }: Running): number | null {
  const percent = progress?.percent ?? 0;
  if (lease === null || progress === null || percent <= 0 || percent > 100) return null;
  const startedAt = lease.startedAt ?? lease.claimedAt;
  return Math.round(progress.at + ((progress.at - startedAt) * (100 - percent)) / percent);
}

export const BASES = ['progress', 'history', 'both'] as const;
export type Basis = (typeof BASES)[number];

export interface Expectation {
  readonly endAt: number | null;
  /** Null when nothing tells an end. */
  readonly basis: Basis | null;
  /** It has run longer than nineteen of twenty do. */
  readonly isSlow: boolean;
}

export function expectationOf(job: Running, usual: UsualRun | null, now: number): Expectation {
  if (job.lease === null) return { endAt: null, basis: null, isSlow: false };
  const startedAt = job.lease.startedAt ?? job.lease.claimedAt;
  const isSlow = usual !== null && now - startedAt > usual.p95Ms;
  const [own, past] = [expectedEnd(job), usualEnd(startedAt, usual, now)];
  if (own === null) return { endAt: past, basis: past === null ? null : 'history', isSlow };
  if (past === null) return { endAt: own, basis: 'progress', isSlow };
  const share = (job.progress?.percent ?? 0) / 100;
  return { endAt: Math.round(own * share + past * (1 - share)), basis: 'both', isSlow };
}

/** The median; for one that runs longer, what nineteen of twenty stay below; beyond that the past knows nothing of it. */
function usualEnd(startedAt: number, usual: UsualRun | null, now: number): number | null {
  if (usual === null || now - startedAt > usual.p95Ms) return null;
  return Math.round(startedAt + (now - startedAt <= usual.p50Ms ? usual.p50Ms : usual.p95Ms));
}
