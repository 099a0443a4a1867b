/** Prints schedules: a table of all with their next and last run times, or one with its details. */
import type { RunView, ScheduleView } from '../../../wire/schedule-view.ts';
import { age, localIso } from '../../../wire/spans.ts';
import type { Cell, Column } from '../../output/columns.ts';
import { fields, table } from '../../output/columns.ts';
import { print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import type { Target } from '../../target/open-target.ts';

export async function listSchedules(args: Args, { longhaul }: Target): Promise<number> {
  const schedules = await longhaul.schedules.list();
  if (args.flag('json')) printJson(schedules);
  else if (schedules.length === 0) printNotice('no schedules yet: create one with longhaul schedule set');
  else for (const line of table(columns(Date.now()), schedules, screenOf())) print(line);
  return 0;
}

function columns(now: number): Column<ScheduleView>[] {
  return [
    { title: 'SCHEDULE', isWhole: true, of: ({ name }) => name },
    { title: 'QUEUE', isWhole: true, of: ({ queue }) => queue },
    { title: 'NEXT', isWhole: true, of: (view) => nextCell(view, now) },
    { title: 'LAST', isWhole: true, of: ({ recent }) => lastCell(recent[0], now) },
    { title: 'WHEN', of: ({ words }) => words },
    { title: 'NOTE', of: ({ note }) => note ?? '' },
  ];
}

function nextCell({ isPaused, nextAt }: ScheduleView, now: number): Cell {
  if (isPaused) return { text: 'paused', colour: 'yellow' };
  return { text: nextAt === null ? 'none' : nextAt <= now ? 'now' : age(nextAt, now) };
}

function lastCell(run: RunView | undefined, now: number): Cell {
  if (run === undefined) return { text: '' };
  const isBad = run.state === 'failed' || run.outcome === 'missed' || run.outcome === 'refused';
  return { text: `${runText(run)} ${age(run.at, now)}`, colour: isBad ? 'red' : null };
}

/** Returns the state of the job of this run; for a run without a job, its outcome. */
function runText({ outcome, state, count }: RunView): string {
  const text = outcome === 'made' ? (state ?? 'pruned') : outcome;
  return count > 1 ? `${count} ${text}` : text;
}

export function showSchedule(args: Args, view: ScheduleView): number {
  if (args.flag('json')) {
    printJson(view);
    return 0;
  }
  for (const line of fields(pairsOf(view), screenOf())) print(line);
  const columns: Column<RunView>[] = [
    { title: 'RUN TIME', isWhole: true, of: ({ slot }) => localIso(slot) },
    { title: 'OUTCOME', isWhole: true, of: runText },
    { title: 'JOB', isWhole: true, of: ({ id }) => id ?? '' },
  ];
  if (view.recent.length > 0) for (const line of ['', ...table(columns, view.recent, screenOf())]) print(line);
  return 0;
}

function pairsOf(view: ScheduleView): readonly (readonly [string, string | null])[] {
  const { upcoming, isPaused, note, backlog } = view;
  return [
    ['schedule', view.name],
    ['queue', view.queue],
    ['when', `${view.words}${view.cron === null ? '' : `, ${view.cron}`}`],
    ['paused', isPaused ? (note ?? 'yes') : null],
    ['next', upcoming.map(localIso).join(', ') || 'never'],
    ['overlap', view.overlap],
    ['catch-up', `${view.catchUp}, ${backlog === null ? 'all missed run times' : `the newest ${backlog}`}`],
    ['jitter', view.jitter === '0ms' ? null : view.jitter],
    ['data', JSON.stringify(view.data)],
    ['options', Object.keys(view.options).length === 0 ? null : JSON.stringify(view.options)],
    ['totals', `${view.made} made, ${view.skipped} skipped, ${view.missed} missed, ${view.queued} queued`],
  ];
}
