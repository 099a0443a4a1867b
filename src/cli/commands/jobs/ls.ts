/** `longhaul ls`: prints a page of jobs, newest first. */
import { checked, object, oneOf } from '../../../core/input/check.ts';
import { JOB_STATES } from '../../../core/job/job.ts';
import { LABELS } from '../../../core/job/label.ts';
import type { JobQuery } from '../../../core/ports/job-store.ts';
import type { JobView } from '../../../library/index.ts';
import { age } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { requireQueue } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { queuesWithoutWorker, withoutWorkerText } from '../../target/without-worker.ts';
import { labelCell, progressText, statusText } from './job-summary.ts';

const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 20;

export async function ls(args: Args): Promise<number> {
  const [positional, ...more] = args.positionals;
  if (more.length > 0) throw args.usageError('too many arguments');
  if (positional !== undefined && args.text('queue') !== undefined)
    throw args.usageError('QUEUE and --queue cannot be combined');
  const queue = positional ?? args.text('queue');
  const query = queryOf(args);
  return withTarget(args, async (target) => {
    if (queue !== undefined) await requireQueue(target, queue);
    const page = await target.longhaul.list({ ...query, ...(queue !== undefined && { queue }) });
    if (args.flag('json')) printJson(page);
    else {
      printPage(page, queue === undefined);
      await warnOfNoWorker(target, page.jobs);
    }
    return 0;
  });
}

/** Says for which of the listed jobs no worker exists. */
async function warnOfNoWorker(target: Target, jobs: readonly JobView[]): Promise<void> {
  const queues = new Set(jobs.filter(({ label }) => label === 'ready').map(({ queue }) => queue));
  const counts = await Promise.all([...queues].map((queue) => target.longhaul.queue(queue).count()));
  for (const each of await queuesWithoutWorker(target, counts)) printNotice(withoutWorkerText(each));
}

const filters = object({ state: oneOf(...JOB_STATES), label: oneOf(...LABELS) });

function queryOf(args: Args): Omit<JobQuery, 'order'> {
  const { state, label } = checked('ls', { state: args.text('state'), label: args.text('label') }, filters);
  const texts = ['tag', 'name', 'worker', 'group', 'after'].flatMap((name) => {
    const value = args.text(name);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    limit: args.number('limit', [1, MAX_LIMIT]) ?? DEFAULT_LIMIT,
    ...(state !== undefined && { state }),
    ...(label !== undefined && { label }),
    ...(Object.fromEntries(texts) as Partial<JobQuery>),
  };
}

export function printPage({ jobs, next }: { jobs: readonly JobView[]; next: string | null }, hasQueues: boolean): void {
  const now = Date.now();
  if (jobs.length === 0) printNotice(next === null ? 'no jobs' : 'no jobs on this page');
  else for (const line of table(columns(now, hasQueues), jobs, screenOf())) print(line);
  if (next !== null) printNotice(`for the next page: --after ${next}`);
}

function columns(now: number, hasQueues: boolean): Column<JobView>[] {
  const queue: Column<JobView> = { title: 'QUEUE', of: (job) => job.queue };
  return [
    { title: 'ID', isWhole: true, of: ({ id }) => id },
    ...(hasQueues ? [queue] : []),
    { title: 'STATE', isWhole: true, of: labelCell },
    { title: 'NAME', of: ({ name }) => name ?? '' },
    { title: 'ADDED', isWhole: true, of: ({ createdAt }) => age(createdAt, now) },
    { title: 'PROGRESS', isWhole: true, of: progressText },
    { title: 'STATUS', of: statusText },
  ];
}
