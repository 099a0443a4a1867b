/** Statistics of a queue: wait and run times, and throughput. */
import type { DayStatistics } from '../../../src/core/statistics/statistics.ts';
import { withQuery } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import { DurationHistogram } from './duration-histogram.tsx';
import { spreadOf } from './log-bins.ts';
import { ThroughputBars } from './throughput-bars.tsx';

const POLL_MS = 30_000;

export function QueueStatistics({ name }: { name: string }) {
  const { data } = useQuery<{ days: readonly DayStatistics[] }>(withQuery('api/statistics', { queue: name }), {
    concerns: () => false,
    everyMs: POLL_MS,
  });
  const days = data?.days ?? [];
  if (days.length === 0) return null;
  return (
    <section aria-label="Statistics" class="grid grid-cols-[minmax(0,1fr)] gap-3 lg:grid-cols-3">
      <DurationHistogram title="Wait time" spread={spreadOf(days.map(({ wait }) => wait))} />
      <DurationHistogram title="Run time" spread={spreadOf(days.map(({ run }) => run))} />
      <ThroughputBars name={name} />
    </section>
  );
}
