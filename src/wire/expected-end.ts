/**
 * Estimates the end of a running job from its own progress, from the usual run time of its queue, or from both. The
 * weight of its own progress grows with the progress.
 */
import type { Job } from '../core/job/job.ts';
import type { UsualRun } from './usual-run.ts';

type Running = Pick<Job, 'lease' | 'progress'>;

/** Estimates the end from progress alone; null without usable progress. */
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
  /** Null when there is no estimate. */
  readonly basis: Basis | null;
  /** Whether it has run longer than the 95th percentile. */
  readonly isSlow: boolean;
}

export function expectationOf(job: Running, usual: UsualRun | null, now: number): Expectation {
  if (job.lease === null) return { endAt: null, basis: null, isSlow: false };
  const startedAt = job.lease.startedAt ?? job.lease.claimedAt;
  const isSlow = usual !== null && now - startedAt > usual.p95Ms;
  const [own, typical] = [expectedEnd(job), usualEnd(startedAt, usual, now)];
  if (own === null) return { endAt: typical, basis: typical === null ? null : 'history', isSlow };
  if (typical === null) return { endAt: own, basis: 'progress', isSlow };
  const weight = (job.progress?.percent ?? 0) / 100;
  return { endAt: Math.round(own * weight + typical * (1 - weight)), basis: 'both', isSlow };
}

/** Returns the median end, after the median the 95th percentile, and null beyond that. */
function usualEnd(startedAt: number, usual: UsualRun | null, now: number): number | null {
  if (usual === null || now - startedAt > usual.p95Ms) return null;
  return Math.round(startedAt + (now - startedAt <= usual.p50Ms ? usual.p50Ms : usual.p95Ms));
}
