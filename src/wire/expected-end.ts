/** When a running job ends if it goes on as it did so far; null when its progress says nothing of that. */
import type { Job } from '../core/job.ts';

export function expectedEnd({ lease, progress }: Pick<Job, 'lease' | 'progress'>): number | null {
  const percent = progress?.percent ?? 0;
  if (lease === null || progress === null || percent <= 0 || percent > 100) return null;
  const startedAt = lease.startedAt ?? lease.claimedAt;
  return Math.round(progress.at + ((progress.at - startedAt) * (100 - percent)) / percent);
}
