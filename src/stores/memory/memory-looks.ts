/** What the memory store works out of all its jobs when somebody asks. */
import type { LivingGroup } from '../../core/failure-trend.ts';
import type { TagCount } from '../../core/insight.ts';
import { tagOrder } from '../../core/insight.ts';
import type { Job } from '../../core/job.ts';

export function topTags(jobs: readonly Job[], limit: number): readonly TagCount[] {
  const counts = new Map<string, number>();
  for (const { tags } of jobs) for (const tag of new Set(tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const all = [...counts].map(([tag, count]) => ({ tag, jobs: count }));
  return all.sort(tagOrder).slice(0, limit);
}

/** `failed` has the oldest end first. */
export function failureGroups(queue: string, failed: readonly Job[]): readonly LivingGroup[] {
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
