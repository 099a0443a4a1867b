/** The table of schedules: rule, next and last run, totals, and actions. */
import type { RunView, ScheduleView } from '../../../src/wire/schedule-view.ts';
import { localIso } from '../../../src/wire/spans.ts';
import { jobPath, queuePath } from '../data/location.ts';
import { Link } from '../ui/link.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { ScheduleActions } from './schedule-actions.tsx';

const HEADS = ['Schedule', 'When', 'Queue', 'Next', 'Last', 'Totals', 'Actions'];

interface TableProps {
  readonly schedules: readonly ScheduleView[];
  onDone(): void;
  onEdit(schedule: ScheduleView): void;
}

export function SchedulesTable({ schedules, ...rest }: TableProps) {
  return (
    <Table caption="Schedules" stacks heads={HEADS}>
      {schedules.map((schedule) => (
        <Row key={schedule.name} schedule={schedule} {...rest} />
      ))}
    </Table>
  );
}

interface RowProps extends Omit<TableProps, 'schedules'> {
  readonly schedule: ScheduleView;
}

function Row({ schedule, onDone, onEdit }: RowProps) {
  const { name, words, cron, queue, recent, made, skipped, missed, queued } = schedule;
  const [last] = recent;
  return (
    <tr>
      <Cell class="font-medium break-words">{name}</Cell>
      <Cell>
        {words}
        {cron !== null && <code class="ml-2 font-mono text-xs whitespace-nowrap text-soft">{cron}</code>}
      </Cell>
      <Cell>
        <Link to={queuePath(queue)} class="link">
          {queue}
        </Link>
      </Cell>
      <Cell>
        <Next schedule={schedule} />
      </Cell>
      <Cell>{last === undefined ? <span class="text-soft">–</span> : <Last run={last} queue={queue} />}</Cell>
      <Cell class="numbers text-xs whitespace-nowrap text-soft">
        {made} added{skipped > 0 && `, ${skipped} skipped`}
        {missed > 0 && `, ${missed} missed`}
        {queued > 0 && `, ${queued} queued`}
      </Cell>
      <Cell>
        <ScheduleActions schedule={schedule} onDone={onDone} onEdit={() => onEdit(schedule)} />
      </Cell>
    </tr>
  );
}

function Next({ schedule: { isPaused, nextAt, note } }: { schedule: ScheduleView }) {
  if (isPaused)
    return (
      <span class="text-warn" title={note ?? ''}>
        paused{note !== null && `: ${note}`}
      </span>
    );
  return nextAt === null ? <span class="text-soft">ended</span> : <RelativeTime at={nextAt} />;
}

function Last({ run, queue }: { run: RunView; queue: string }) {
  const word = run.outcome === 'made' ? (run.state ?? 'pruned') : run.outcome;
  const isBad = run.state === 'failed' || run.outcome === 'missed' || run.outcome === 'refused';
  const text = run.count > 1 ? `${run.count} ${word}` : word;
  return (
    <span class={isBad ? 'text-bad' : ''} title={`run time ${localIso(run.slot)}`}>
      {run.id === null || run.state === null ? (
        text
      ) : (
        <Link to={jobPath(queue, run.id)} class="link">
          {text}
        </Link>
      )}{' '}
      <RelativeTime at={run.at} />
    </span>
  );
}
