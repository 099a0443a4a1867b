/** A queue in a line: how much waits and for how long, how fast it goes, and when it will be empty. */
import { span } from '../../../src/wire/spans.ts';
import { useOverview } from '../data/overview.ts';
import { briefly } from '../ui/briefly.ts';
import { localTime } from '../ui/local-times.ts';
import { Sparkline } from '../ui/sparkline.tsx';
import { useNow } from '../ui/when.tsx';

const MINUTES = 5;

export function QueueSummary({ name }: { name: string }) {
  const now = useNow();
  const row = useOverview().data?.queues.find((queue) => queue.name === name);
  if (row === undefined) return null;
  const { waiting, running, oldestWaitAt, minutes, emptyAt, usualMs } = row;
  // Without the minute that is going on.
  const last = minutes.slice(-MINUTES - 1, -1);
  const pace = last.reduce((sum, each) => sum + each, 0) / Math.max(1, last.length);
  const words = [
    `${waiting.toLocaleString('en')} waiting, ${running.toLocaleString('en')} running`,
    ...(oldestWaitAt === null ? [] : [`the next has waited for ${span(now - oldestWaitAt)}`]),
    ...(pace === 0 ? [] : [`${Math.round(pace * 10) / 10} done a minute`]),
    ...(usualMs === null ? [] : [`a run usually takes ${briefly(usualMs)}`]),
    ...(emptyAt === null ? [] : [`empty ${localTime(emptyAt, now).replace(' at ', ' at about ')}`]),
  ];
  return (
    <div class="flex flex-wrap items-center gap-x-4 gap-y-1 text-soft">
      <p>{words.join(' · ')}</p>
      <Sparkline values={minutes} title={`done in each of the last ${minutes.length} minutes`} />
    </div>
  );
}
