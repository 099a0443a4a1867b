/** `longhaul stats`: prints wait and run times by day, or the throughput by minute or hour. */
import { checked, object, oneOf } from '../../../core/input/check.ts';
import { quantile } from '../../../core/statistics/histogram.ts';
import type { DayStatistics, SeriesPoint, SeriesQuery, StatisticsQuery } from '../../../library/index.ts';
import { seriesSpan } from '../../../wire/port-checks.ts';
import { span } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { requireQueue } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 3_650;
const number = (count: number): string => (count === 0 ? '' : String(count));
const grouping = object({ by: oneOf('queue', 'tag', 'worker') });

export async function stats(args: Args): Promise<number> {
  const [queue, ...more] = args.positionals;
  if (more.length > 0) throw args.usageError('too many arguments');
  const { by = 'queue' } = checked('stats', { by: args.text('by') }, grouping);
  const days = args.number('days', [1, MAX_DAYS]);
  const span = args.text('every');
  if (span !== undefined && (args.text('by') ?? days) !== undefined)
    throw args.usageError('--every cannot be combined with --by or --days');
  return withTarget(args, async (target) => {
    if (queue !== undefined) await requireQueue(target, queue);
    if (span !== undefined)
      return throughput(args, target, { span: checked('--every', span, seriesSpan), ...(queue && { queue }) });
    const question = { by, ...(queue !== undefined && { queue }), ...(days !== undefined && since(days)) };
    const found = await target.longhaul.statistics(question);
    if (args.flag('json')) printJson(found);
    else if (found.length === 0) printNotice('no jobs ran in these days');
    else for (const line of table(columns(by), found, screenOf())) print(line);
    return 0;
  });
}

async function throughput(args: Args, { longhaul }: Target, question: SeriesQuery): Promise<number> {
  const found = await longhaul.throughput(question);
  if (args.flag('json')) printJson(found);
  else if (found.length === 0) printNotice('no jobs ended in this time');
  else for (const line of table(POINTS, found, screenOf())) print(line);
  return 0;
}

const POINTS: readonly Column<SeriesPoint>[] = [
  { title: 'FROM', isWhole: true, of: ({ at }) => `${new Date(at).toISOString().slice(0, 16)}Z` },
  { title: 'QUEUE', isWhole: true, of: ({ queue }) => queue },
  { title: 'DONE', isWhole: true, of: ({ done }) => number(done) },
  { title: 'FAILED', isWhole: true, of: ({ failed }) => ({ text: number(failed), colour: 'red' }) },
];

function since(days: number): Pick<StatisticsQuery, 'from'> {
  return { from: new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10) };
}

type Distribution = DayStatistics['run'];
const mean = ({ count, mean: ms }: Distribution): string => (count === 0 ? '' : span(ms));

function percentile95({ histogram }: Distribution): string {
  const ms = histogram === null ? null : quantile(histogram, 0.95);
  return ms === null ? '' : span(ms);
}

function columns(by: string): Column<DayStatistics>[] {
  const of: Column<DayStatistics> = { title: by.toUpperCase(), isWhole: true, of: (each) => each.of };
  return [
    { title: 'DAY', isWhole: true, of: ({ day }) => day },
    { title: 'QUEUE', isWhole: true, of: ({ queue }) => queue },
    ...(by === 'queue' ? [] : [of]),
    { title: 'COMPLETED', isWhole: true, of: ({ run }) => number(run.count) },
    { title: 'WAIT MEAN', isWhole: true, of: ({ wait }) => mean(wait) },
    { title: 'WAIT P95', isWhole: true, of: ({ wait }) => percentile95(wait) },
    { title: 'RUN MEAN', isWhole: true, of: ({ run }) => mean(run) },
    { title: 'RUN P95', isWhole: true, of: ({ run }) => percentile95(run) },
    { title: 'RETRIES', isWhole: true, of: ({ retries }) => number(retries) },
    { title: 'FAILURES', isWhole: true, of: ({ failures }) => ({ text: number(failures), colour: 'red' }) },
    { title: 'INTERRUPTED', isWhole: true, of: ({ interruptions }) => number(interruptions) },
  ];
}
