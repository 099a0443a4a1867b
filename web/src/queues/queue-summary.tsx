/** A one-line summary of a queue: waiting and running jobs, longest wait, rate, and expected time until empty. */
import { span } from '../../../src/wire/spans.ts';
import { useOverview } from '../data/overview.ts';
import { localTime } from '../ui/local-times.ts';
import { useNow } from '../ui/relative-time.tsx';
import { shortDuration } from '../ui/short-duration.ts';
import { Sparkline } from '../ui/sparkline.tsx';

const MINUTES = 5;

export function QueueSummary({ name }: { name: string }) {
  const now = useNow();
  const row = useOverview().data?.queues.find((queue) => queue.name === name);
  if (row === undefined) return null;
  const { waiting, running, oldestWaitAt, minutes, emptyAt, emptyBasis, usualMs } = row;
  // Without the current minute.
  const last = minutes.slice(-MINUTES - 1, -1);
  const pace = last.reduce((sum, each) => sum + each, 0) / Math.max(1, last.length);
  const parts = [
    `${waiting.toLocaleString('en')} waiting, ${running.toLocaleString('en')} running`,
    ...(oldestWaitAt === null ? [] : [`oldest wait ${span(now - oldestWaitAt)}`]),
    ...(pace === 0 ? [] : [`${Math.round(pace * 10) / 10} done per minute`]),
    ...(usualMs === null ? [] : [`median run ${shortDuration(usualMs)}`]),
    ...(emptyAt === null ? [] : [`empty ${localTime(emptyAt, now).replace(' at ', ' at about ')}, by ${emptyBasis}`]),
  ];
  return (
    <div class="flex flex-wrap items-center gap-x-4 gap-y-1 text-soft">
      <p>{parts.join(' · ')}</p>
      <Sparkline values={minutes} title={`done per minute in the last ${minutes.length} minutes`} />
    </div>
  );
}
