/** `longhaul show`: prints one job with its steps, files and history. */
import type { HistoryRow } from '../../../core/job/history.ts';
import { shownNote } from '../../../core/job/history.ts';
import type { JobView } from '../../../library/index.ts';
import { expectedEnd } from '../../../wire/expected-end.ts';
import { age, bytes, localIso, plural, span } from '../../../wire/spans.ts';
import type { StepView } from '../../../wire/steps/step-view.ts';
import { stepView } from '../../../wire/steps/step-view.ts';
import type { Cell, Column } from '../../output/columns.ts';
import { fields, table } from '../../output/columns.ts';
import type { Screen } from '../../output/screen.ts';
import { cell, fit, paint, print, printJson, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import type { FileInfo } from '../../target/files.ts';
import { findJob } from '../../target/job-ids.ts';
import { withTarget } from '../../target/open-target.ts';
import { expectedEndText, labelCell, progressText } from './job-summary.ts';
import { stepColumns, waitOf } from './show-steps.ts';

export async function show(args: Args): Promise<number> {
  const given = args.only('ID');
  return withTarget(args, async (target) => {
    const job = await findJob(target, given);
    const { id } = job;
    const [history, attachments, kept] = await Promise.all([
      target.longhaul.history(id),
      target.files.list(id),
      job.steps === null ? [] : target.longhaul.steps(id),
    ]);
    const steps = kept.map(stepView);
    // `steps` of the job has their number and bytes.
    if (args.flag('json')) printJson({ ...job, steps, history, attachments });
    else printJob({ job, steps, history, attachments });
    return 0;
  });
}

interface JobDetails {
  readonly job: JobView;
  readonly steps: readonly StepView[];
  readonly history: readonly HistoryRow[];
  readonly attachments: readonly FileInfo[];
}

function printJob({ job, steps, history, attachments }: JobDetails): void {
  const screen = screenOf();
  const now = Date.now();
  for (const line of fields([...headOf(job, now), ...runningOf(job, now), ...endOf(job)], screen)) print(line);
  if (steps.length > 0) printTable('Steps', table(stepColumns(now, job.endedAt !== null), steps, screen), screen);
  if (attachments.length > 0) printTable('Files', table(FILE_COLUMNS, attachments, screen), screen);
  if (history.length > 0) printTable('History', table(historyColumns(now), history, screen), screen);
}

function printTable(title: string, lines: readonly string[], screen: Screen): void {
  print(`\n${paint(screen, 'bold', title)}`);
  for (const line of lines) print(`  ${line}`);
}

type Field = readonly [string, string | Cell | null];

function headOf(job: JobView, now: number): Field[] {
  const { label, reason } = job;
  return [
    ['id', { text: job.id, colour: 'bold' }],
    ['queue', job.queue],
    ['name', job.name],
    ['state', labelCell(job)],
    ['reason', reason === label || reason === 'completed' ? null : reason],
    [
      'dependencies',
      job.parents === null ? null : `${job.parents.of - job.parents.open} of ${plural(job.parents.of, 'job')} done`,
    ],
    ['dependents', job.dependents === 0 ? null : `${plural(job.dependents, 'job')} still waiting for it`],
    ['stands for', job.folded === 0 ? null : `${plural(job.folded, 'equal job')}, folded into it when it started`],
    ['tags', job.tags.length === 0 ? null : job.tags.join(', ')],
    ['priority', job.priority === 0 ? null : String(job.priority)],
    ['added', `${localIso(job.createdAt)} (${age(job.createdAt, now)})`],
    ...(job.suspension === null ? [notBefore(job, now)] : waitOf(job, now)),
    ['counters', countersOf(job)],
    ['data', shortJson(job.data)],
  ];
}

function notBefore({ state, runAt }: JobView, now: number): Field {
  return ['not before', state === 'waiting' && runAt > now ? `${localIso(runAt)} (${age(runAt, now)})` : null];
}

function runningOf(job: JobView, now: number): Field[] {
  const { lease, progress } = job;
  if (lease === null) return [];
  return [
    ['worker', `${lease.worker}${lease.pid === null ? '' : `, process ${lease.pid}`}`],
    ['running for', span(now - (lease.startedAt ?? lease.claimedAt))],
    ['progress', progress === null ? null : `${progressText(job)} ${progress.text ?? ''}`.trim()],
    ['expected end', expectedEnd(job) === null ? null : expectedEndText(job, now)],
    ['asked', lease.cancelAskedAt !== null ? 'to stop' : lease.pauseAskedAt !== null ? 'to pause' : null],
  ];
}

function endOf({ endedAt, result, failure, checkpoint }: JobView): Field[] {
  return [
    ['checkpoint', checkpoint === undefined ? null : shortJson(checkpoint)],
    ['ended', endedAt === null ? null : localIso(endedAt)],
    ['result', result === null ? null : shortJson(result)],
    ['failure', failure === null ? null : { text: failure.message, colour: 'red' }],
    ['group', failure === null ? null : failure.group],
  ];
}

function countersOf({ attempt, failures, resends, crashes, interruptions }: JobView): string {
  const counters = Object.entries({ attempt, failures, resends, crashes, interruptions });
  return counters
    .flatMap(([name, count]) => (count === 0 && name !== 'attempt' ? [] : [`${name} ${count}`]))
    .join(', ');
}

const MAX_JSON = 2_000;

function shortJson(value: unknown): string {
  return fit(cell(value), MAX_JSON);
}

const FILE_COLUMNS: readonly Column<FileInfo>[] = [
  { title: 'NAME', isWhole: true, of: ({ name }) => name },
  { title: 'SIZE', isWhole: true, of: ({ size }) => bytes(size) },
  { title: 'KIND', isWhole: true, of: ({ direction }) => (direction === 'in' ? 'input' : 'output') },
  { title: 'SHA-256', of: ({ sha256 }) => sha256 },
];

function historyColumns(now: number): Column<HistoryRow>[] {
  return [
    { title: 'WHEN', isWhole: true, of: ({ at }) => localIso(at) },
    { title: 'AGE', isWhole: true, of: ({ at }) => age(at, now) },
    { title: 'EVENT', isWhole: true, of: ({ event }) => event },
    { title: 'STATE', isWhole: true, of: ({ state }) => state },
    { title: 'ATTEMPT', of: ({ attempt }) => (attempt === 0 ? '' : String(attempt)) },
    { title: 'BY', of: ({ by }) => by ?? '' },
    { title: 'NOTE', of: (row) => shownNote(row) ?? '' },
  ];
}
