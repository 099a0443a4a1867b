/** Schedules: what shall happen again and again, and the coming day as lanes. */
import { useState } from 'preact/hooks';
import { scheduleTag } from '../../../src/core/schedules/schedule.ts';
import type { LaneList } from '../../../src/wire/schedule-checks.ts';
import type { ScheduleView } from '../../../src/wire/schedule-view.ts';
import type { LiveEvent } from '../data/live.ts';
import { useQuery } from '../data/use-query.ts';
import { Lanes } from '../schedules/lanes.tsx';
import { ScheduleForm } from '../schedules/schedule-form.tsx';
import { SchedulesTable } from '../schedules/schedules-table.tsx';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Trouble } from '../ui/trouble.tsx';

const LANES_EVERY_MS = 60_000;
const EXAMPLE = "longhaul schedule set nightly --queue mail --cron '30 3 * * *' --zone Europe/Berlin";

/** The lanes tell how long runs take: by those that have ended. */
function endsScheduled(event: LiveEvent): boolean {
  if (event.type === 'queue' || event.row === null || event.row.endedAt === null) return false;
  return event.row.tags.some((tag) => tag.startsWith(scheduleTag('')));
}

export function SchedulesPage() {
  const list = useQuery<{ schedules: readonly ScheduleView[] }>('api/schedules');
  const lanes = useQuery<LaneList>('api/schedules/lanes', { everyMs: LANES_EVERY_MS, concerns: endsScheduled });
  const [editing, edit] = useState<ScheduleView | 'new' | null>(null);
  const onDone = () => {
    edit(null);
    list.refresh();
    lanes.refresh();
  };
  const schedules = list.data?.schedules;
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-6">
      <header class="flex items-center justify-between gap-2">
        <h1 class="text-lg font-semibold">Schedules</h1>
        <Button onClick={() => edit('new')}>New schedule …</Button>
      </header>
      <Trouble error={schedules === undefined ? list.error : null} />
      {schedules?.length === 0 && (
        <Empty title="No schedules yet" command={EXAMPLE}>
          A schedule makes a job again and again: by the clock, or every so often.
        </Empty>
      )}
      {schedules !== undefined && schedules.length > 0 && (
        <SchedulesTable schedules={schedules} onDone={onDone} onEdit={edit} />
      )}
      {lanes.data !== undefined && lanes.data.lanes.length > 0 && <Lanes list={lanes.data} />}
      {editing !== null && (
        <ScheduleForm schedule={editing === 'new' ? null : editing} onClose={() => edit(null)} onDone={onDone} />
      )}
    </div>
  );
}
