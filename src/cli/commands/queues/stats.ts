/** `longhaul stats`: how long jobs waited and ran, day by day; or how many ended by minute or hour. */
import { checked, object, oneOf } from '../../../core/input/check.ts';
import { quantile } from '../../../core/statistics/histogram.ts';
import type { DayStatistics, SeriesPoint, SeriesQuestion, StatisticsQuestion } from '../../../library/index.ts';
import { seriesSpan } from '../../../wire/port-checks.ts';
import { span } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { checkQueueIsKnown } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';

const DAY_MS = 86_400_000;
const MOST_DAYS = 3_650;
const number = (count: number): string => (count === 0 ? '' : String(count));
const words = object({ by: oneOf('queue', 'tag', 'worker') });

export async function stats(call: Call): Promise<number> {
  const [queue, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  const { by = 'queue' } = checked('stats', { by: call.text('by') }, words);
  const days = call.number('days', [1, MOST_DAYS]);
  const span = call.text('every');
  if (span !== undefined && (call.text('by') ?? days) !== undefined)
    throw call.wrong('--every goes without --by and --days');
  return withTarget(call, async (target) => {
    if (queue !== undefined) await checkQueueIsKnown(target, queue);
    if (span !== undefined)
      return throughput(call, target, { span: checked('--every', span, seriesSpan), ...(queue && { queue }) });
    const question = { by, ...(queue !== undefined && { queue }), ...(days !== undefined && since(days)) };
    const found = await target.longhaul.statistics(question);
    if (call.flag('json')) printJson(found);
    else if (found.length === 0) remark('nothing has run in these days');
    else for (const line of table(columns(by), found, screenOf())) print(line);
    return 0;
  });
}

async function throughput(call: Call, { longhaul }: Target, question: SeriesQuestion): Promise<number> {
  const found = await longhaul.throughput(question);
  if (call.flag('json')) printJson(found);
  else if (found.length === 0) remark('nothing has ended in this time');
  else for (const line of table(POINTS, found, screenOf())) print(line);
  return 0;
}

const POINTS: readonly Column<SeriesPoint>[] = [
  { title: 'FROM', isWhole: true, of: ({ at }) => `${new Date(at).toISOString().slice(0, 16)}Z` },
  { title: 'IN', isWhole: true, of: ({ queue }) => queue },
  { title: 'DONE', isWhole: true, of: ({ done }) => number(done) },
  { title: 'FAILED', isWhole: true, of: ({ failed }) => ({ text: number(failed), colour: 'red' }) },
];

function since(days: number): Pick<StatisticsQuestion, 'from'> {
  return { from: new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10) };
}

type Spread = DayStatistics['run'];
const mean = ({ count, mean: ms }: Spread): string => (count === 0 ? '' : span(ms));

function most({ histogram }: Spread): string {
  const ms = histogram === null ? null : quantile(histogram, 0.95);
  return ms === null ? '' : span(ms);
}

function columns(by: string): Column<DayStatistics>[] {
  const of: Column<DayStatistics> = { title: by.toUpperCase(), isWhole: true, of: (each) => each.of };
  return [
    { title: 'DAY', isWhole: true, of: ({ day }) => day },
    { title: 'IN', isWhole: true, of: ({ queue }) => queue },
    ...(by === 'queue' ? [] : [of]),
    { title: 'COMPLETED', isWhole: true, of: ({ run }) => number(run.count) },
    { title: 'WAITED', isWhole: true, of: ({ wait }) => mean(wait) },
    { title: '95 % UNDER', isWhole: true, of: ({ wait }) => most(wait) },
    { title: 'RAN', isWhole: true, of: ({ run }) => mean(run) },
    { title: '95 % UNDER', isWhole: true, of: ({ run }) => most(run) },
    { title: 'RETRIES', isWhole: true, of: ({ retries }) => number(retries) },
    { title: 'FAILURES', isWhole: true, of: ({ failures }) => ({ text: number(failures), colour: 'red' }) },
    { title: 'INTERRUPTED', isWhole: true, of: ({ interruptions }) => number(interruptions) },
  ];
}
