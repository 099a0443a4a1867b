/** Prints queues: a table of all with their counts, or one queue with its settings, problems and failures. */

import { NO_WORKER } from '../../../core/limits/without-worker.ts';
import type { QueueCounts } from '../../../core/ports/job-store.ts';
import type { SettingSource } from '../../../core/settings/global-settings.ts';
import type { QueueSettings } from '../../../core/settings/settings.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings/settings.ts';
import type { FailureGroup } from '../../../library/index.ts';
import { age } from '../../../wire/spans.ts';
import type { Cell, Column } from '../../output/columns.ts';
import { fields, table } from '../../output/columns.ts';
import { paint, print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { knownQueues } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { queuesWithoutWorker } from '../../target/without-worker.ts';
import { SETTINGS } from './setting-values.ts';

interface QueueDetails {
  readonly queue: string;
  readonly counts: QueueCounts;
  readonly settings: QueueSettings;
  /** Where each setting is set. */
  readonly from: Readonly<Record<string, SettingSource>>;
  readonly problems: readonly string[];
  /** Whether jobs that could start wait without any worker. */
  readonly isWithoutWorker: boolean;
}

async function readQueue(target: Target, queue: string): Promise<QueueDetails> {
  const [counts, settings, explained, problems] = await Promise.all([
    target.longhaul.queue(queue).count(),
    target.longhaul.queue(queue).settings(),
    target.longhaul.queue(queue).explain(),
    problemsOf(target, queue),
  ]);
  const from = Object.fromEntries(explained.map((each) => [each.name, each.from]));
  const isWithoutWorker = (await queuesWithoutWorker(target, [counts])).length > 0;
  return { queue, counts, settings, from, problems, isWithoutWorker };
}

const MAX_NODES = 100;

/** Returns the problems that nodes report for the queue; none if the caller is not an admin, who alone may read them. */
async function problemsOf({ longhaul }: Target, queue: string): Promise<readonly string[]> {
  const query = { kind: 'queue-problem', prefix: `${queue}/`, limit: MAX_NODES };
  const records = await longhaul.store.records.list(query).catch(() => []);
  return records.map(({ value }) => (JSON.parse(value) as { problem: string }).problem);
}

export async function listQueues(args: Args, target: Target): Promise<number> {
  const queues = await Promise.all((await knownQueues(target)).map((queue) => readQueue(target, queue)));
  if (args.flag('json')) printJson(queues);
  else if (queues.length === 0) printNotice('no queues yet: put an executable file into queues/ of the data directory');
  else for (const line of table(COLUMNS, queues, screenOf())) print(line);
  return 0;
}

const number = (count: number): string => (count === 0 ? '' : String(count));

const COLUMNS: readonly Column<QueueDetails>[] = [
  { title: 'QUEUE', isWhole: true, of: ({ queue }) => queue },
  { title: 'STATE', isWhole: true, of: stateCell },
  { title: 'CONCURRENCY', isWhole: true, of: ({ settings }) => String(settings.concurrency) },
  { title: 'WAITING', isWhole: true, of: ({ counts }) => number(counts.waiting) },
  { title: 'RUNNING', isWhole: true, of: ({ counts }) => number(counts.running) },
  { title: 'DONE', isWhole: true, of: ({ counts }) => number(counts.done) },
  { title: 'FAILED', isWhole: true, of: ({ counts }) => ({ text: number(counts.failed), colour: 'red' }) },
  { title: 'CANCELLED', isWhole: true, of: ({ counts }) => number(counts.cancelled) },
  {
    title: 'NOTE',
    of: ({ settings, problems, isWithoutWorker }) =>
      [...problems, isWithoutWorker ? NO_WORKER : '', settings.note ?? ''].filter(Boolean).join('; '),
  },
];

function stateCell({ settings: { state }, isWithoutWorker }: QueueDetails): Cell {
  if (isWithoutWorker) return { text: 'no worker', colour: 'yellow' };
  return { text: state, colour: state === 'up' ? 'green' : 'yellow' };
}

export async function showQueue(args: Args, target: Target, name: string): Promise<number> {
  const [details, failures] = await Promise.all([readQueue(target, name), target.longhaul.queue(name).failures()]);
  if (args.flag('json')) printJson({ ...details, failures });
  else printQueue(details, failures);
  return 0;
}

function printQueue(details: QueueDetails, failures: readonly FailureGroup[]): void {
  const { queue, counts, settings, from, problems, isWithoutWorker } = details;
  const screen = screenOf();
  const shown = (['draft', 'waiting', 'scheduled', 'running', 'done', 'relayed', 'failed', 'cancelled'] as const)
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`);
  const lines = fields(
    [
      ['queue', { text: queue, colour: 'bold' }],
      ['state', stateCell(details)],
      ['waits', isWithoutWorker ? { text: NO_WORKER, colour: 'yellow' } : null],
      ['note', settings.note],
      ...problems.map((problem) => ['problem', { text: problem, colour: 'red' }] as const),
      ['jobs', shown.join(', ') || 'none'],
      ...changedSettings(settings, from),
    ],
    screen,
  );
  for (const line of lines) print(line);
  if (failures.length === 0) return;
  print(`\n${paint(screen, 'bold', 'Failures')}`);
  for (const line of table(failureColumns(Date.now()), failures, screen)) print(`  ${line}`);
}

/** Returns the settings that differ from the defaults. */
function changedSettings(settings: QueueSettings, from: QueueDetails['from']): (readonly [string, string])[] {
  return Object.entries(SETTINGS)
    .filter(([name, { of }]) => name !== 'state' && name !== 'note' && of(settings) !== of(DEFAULT_SETTINGS))
    .map(([name, { of }]) => [name, `${of(settings)}${from[name] === 'global' ? ' (global)' : ''}`] as const);
}

function failureColumns(now: number): Column<FailureGroup>[] {
  return [
    { title: 'JOBS', isWhole: true, of: ({ count }) => String(count) },
    { title: 'LAST', isWhole: true, of: ({ lastAt }) => age(lastAt, now) },
    { title: 'SAMPLE', isWhole: true, of: ({ sampleId }) => sampleId ?? '' },
    { title: 'GROUP', of: ({ group }) => group },
  ];
}
