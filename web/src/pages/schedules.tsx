/** The page of schedules: the list, and a timeline of the next 24 hours. */
import { useState } from 'preact/hooks';
import { scheduleTag } from '../../../src/core/schedules/schedule.ts';
import type { ScheduleTimelineList } from '../../../src/wire/schedule-checks.ts';
import type { ScheduleView } from '../../../src/wire/schedule-view.ts';
import type { LiveEvent } from '../data/live.ts';
import { useOverview } from '../data/overview.ts';
import { useQuery } from '../data/use-query.ts';
import { exampleQueue } from '../queues/example-queue.ts';
import { ScheduleForm } from '../schedules/schedule-form.tsx';
import { ScheduleTimeline } from '../schedules/schedule-timeline.tsx';
import { SchedulesTable } from '../schedules/schedules-table.tsx';
import { usePageTitle } from '../ui/breadcrumbs.tsx';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';

const TIMELINE_POLL_MS = 60_000;

function exampleCommand(queue: string): readonly string[] {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return ['schedule', 'set', 'nightly', '--queue', queue, '--cron', '30 3 * * *', '--zone', timeZone];
}

/** The timeline shows expected durations, which change when a scheduled run ends. */
function isEndOfScheduledRun(event: LiveEvent): boolean {
  if (event.type === 'queue' || event.row === null || event.row.endedAt === null) return false;
  return event.row.tags.some((tag) => tag.startsWith(scheduleTag('')));
}

export function SchedulesPage() {
  usePageTitle('Schedules');
  const list = useQuery<{ schedules: readonly ScheduleView[] }>('api/schedules');
  const timeline = useQuery<ScheduleTimelineList>('api/schedules/timelines', {
    everyMs: TIMELINE_POLL_MS,
    concerns: isEndOfScheduledRun,
  });
  const [editing, edit] = useState<ScheduleView | 'new' | null>(null);
  const onDone = () => {
    edit(null);
    list.refresh();
    timeline.refresh();
  };
  const schedules = list.data?.schedules;
  const queue = exampleQueue(useOverview().data?.queues ?? []);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-6">
      <header class="flex items-center justify-between gap-2">
        <h1 class="text-lg font-semibold">Schedules</h1>
        <Button onClick={() => edit('new')}>New schedule …</Button>
      </header>
      <ErrorMessage error={schedules === undefined ? list.error : null} />
      {schedules?.length === 0 && (
        <Empty title="No schedules yet" command={queue === null ? undefined : exampleCommand(queue)}>
          A schedule adds jobs by a cron rule or at an interval.
        </Empty>
      )}
      {schedules !== undefined && schedules.length > 0 && (
        <SchedulesTable schedules={schedules} onDone={onDone} onEdit={edit} />
      )}
      {timeline.data !== undefined && <ScheduleTimeline list={timeline.data} />}
      {editing !== null && (
        <ScheduleForm schedule={editing === 'new' ? null : editing} onClose={() => edit(null)} onDone={onDone} />
      )}
    </div>
  );
}
