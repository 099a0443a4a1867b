/** Insight queries of the memory store, computed from all its jobs. */

import type { Job, JobState } from '../../core/job/job.ts';
import type { TagCount } from '../../core/ports/insight.ts';
import { tagOrder } from '../../core/ports/insight.ts';
import type { CurrentFailureGroup } from '../../core/statistics/failure-trend.ts';
import type { QueueStorage, StoredSize } from '../../core/statistics/storage.ts';
import { resultBytes, storageOf, storedBytes } from '../../core/statistics/storage.ts';

export function topTags(jobs: readonly Job[], limit: number): readonly TagCount[] {
  const counts = new Map<string, number>();
  for (const { tags } of jobs) for (const tag of new Set(tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const all = [...counts].map(([tag, count]) => ({ tag, jobs: count }));
  return all.sort(tagOrder).slice(0, limit);
}

export function storageIn(queue: string, jobs: readonly Job[], logs: StoredSize): QueueStorage {
  const own = jobs.filter((job) => job.queue === queue);
  const of = (state: JobState): readonly Job[] => own.filter((job) => job.state === state);
  const bytes = (state: JobState): number => of(state).reduce((sum, job) => sum + storedBytes(job), 0);
  const results = own.flatMap((job) => resultBytes(job) ?? []);
  return storageOf(
    queue,
    { done: of('done').length, failed: of('failed').length, cancelled: of('cancelled').length },
    {
      done: bytes('done'),
      failed: bytes('failed'),
      cancelled: bytes('cancelled'),
      results: results.length,
      resultBytes: results.reduce((sum, each) => sum + each, 0),
    },
    logs,
  );
}

/** `failed` has the oldest end first. */
export function failureGroups(queue: string, failed: readonly Job[]): readonly CurrentFailureGroup[] {
  const groups = new Set(failed.map((job) => job.failure?.group ?? ''));
  return [...groups].map((group) => {
    const members = failed.filter((job) => job.failure?.group === group);
    const [first, last] = [members[0] as Job, members.at(-1) as Job];
    return {
      queue,
      group,
      count: members.length,
      firstAt: first.endedAt ?? 0,
      lastAt: last.endedAt ?? 0,
      sampleId: last.id,
    };
  });
}
