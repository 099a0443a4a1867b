/** Queues as tables: all of them with their counts, or one with what was set, its problems and its failures. */

import type { QueueCounts } from '../../../core/ports/job-store.ts';
import type { SettingSource } from '../../../core/settings/global-settings.ts';
import type { QueueSettings } from '../../../core/settings/settings.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings/settings.ts';
import type { FailureGroup } from '../../../library/index.ts';
import { age } from '../../../wire/spans.ts';
import type { Cell, Column } from '../../output/columns.ts';
import { fields, table } from '../../output/columns.ts';
import { paint, print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { knownQueues } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { SETTINGS } from './setting-lines.ts';

interface QueueLook {
  readonly queue: string;
  readonly counts: QueueCounts;
  readonly settings: QueueSettings;
  /** Who set each of them. */
  readonly from: Readonly<Record<string, SettingSource>>;
  readonly problems: readonly string[];
}

async function lookAt(target: Target, queue: string): Promise<QueueLook> {
  const [counts, settings, explained, problems] = await Promise.all([
    target.longhaul.queue(queue).count(),
    target.longhaul.queue(queue).settings(),
    target.longhaul.queue(queue).explain(),
    problemsOf(target, queue),
  ]);
  const from = Object.fromEntries(explained.map((each) => [each.name, each.from]));
  return { queue, counts, settings, from, problems };
}

const MOST_NODES = 100;

/** What the nodes that work it say against it. Only admins may read that, and the rest is worth showing without it. */
async function problemsOf({ longhaul }: Target, queue: string): Promise<readonly string[]> {
  const query = { kind: 'queue-problem', prefix: `${queue}/`, limit: MOST_NODES };
  const records = await longhaul.store.records.list(query).catch(() => []);
  return records.map(({ value }) => (JSON.parse(value) as { problem: string }).problem);
}

export async function listQueues(call: Call, target: Target): Promise<number> {
  const looks = await Promise.all((await knownQueues(target)).map((queue) => lookAt(target, queue)));
  if (call.flag('json')) printJson(looks);
  else if (looks.length === 0) remark('no queues yet: an executable file in the folder queues of the home is one');
  else for (const line of table(COLUMNS, looks, screenOf())) print(line);
  return 0;
}

const number = (count: number): string => (count === 0 ? '' : String(count));

const COLUMNS: readonly Column<QueueLook>[] = [
  { title: 'QUEUE', isWhole: true, of: ({ queue }) => queue },
  { title: 'STATE', isWhole: true, of: ({ settings }) => stateCell(settings) },
  { title: 'AT ONCE', isWhole: true, of: ({ settings }) => String(settings.concurrency) },
  { title: 'WAITING', isWhole: true, of: ({ counts }) => number(counts.waiting) },
  { title: 'RUNNING', isWhole: true, of: ({ counts }) => number(counts.running) },
  { title: 'DONE', isWhole: true, of: ({ counts }) => number(counts.done) },
  { title: 'FAILED', isWhole: true, of: ({ counts }) => ({ text: number(counts.failed), colour: 'red' }) },
  { title: 'CANCELLED', isWhole: true, of: ({ counts }) => number(counts.cancelled) },
  { title: 'NOTE', of: ({ settings, problems }) => [...problems, settings.note ?? ''].filter(Boolean).join('; ') },
];

function stateCell({ state }: QueueSettings): Cell {
  return { text: state, colour: state === 'up' ? 'green' : 'yellow' };
}

export async function showQueue(call: Call, target: Target, name: string): Promise<number> {
  const [look, failures] = await Promise.all([lookAt(target, name), target.longhaul.queue(name).failures()]);
  if (call.flag('json')) printJson({ ...look, failures });
  else printQueue(look, failures);
  return 0;
}

function printQueue({ queue, counts, settings, from, problems }: QueueLook, failures: readonly FailureGroup[]): void {
  const screen = screenOf();
  const shown = (['draft', 'waiting', 'scheduled', 'running', 'done', 'relayed', 'failed', 'cancelled'] as const)
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`);
  const lines = fields(
    [
      ['queue', { text: queue, colour: 'bold' }],
      ['state', stateCell(settings)],
      ['note', settings.note],
      ...problems.map((problem) => ['problem', { text: problem, colour: 'red' }] as const),
      ['jobs', shown.join(', ') || 'none'],
      ...setSettings(settings, from),
    ],
    screen,
  );
  for (const line of lines) print(line);
  if (failures.length === 0) return;
  print(`\n${paint(screen, 'bold', 'Failures')}`);
  for (const line of table(failureColumns(Date.now()), failures, screen)) print(`  ${line}`);
}

/** Those that somebody chose. */
function setSettings(settings: QueueSettings, from: QueueLook['from']): (readonly [string, string])[] {
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
