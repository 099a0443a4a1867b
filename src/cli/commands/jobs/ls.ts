/** `longhaul ls`: a page of jobs as a table, the newest first. */
import { checked, object, oneOf } from '../../../core/input/check.ts';
import { JOB_STATES } from '../../../core/job/job.ts';
import { LABELS } from '../../../core/job/label.ts';
import type { JobQuery } from '../../../core/ports/job-store.ts';
import type { JobView } from '../../../library/index.ts';
import { age } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { checkQueueIsKnown } from '../../target/known-names.ts';
import { withTarget } from '../../target/open-target.ts';
import { labelCell, progressWords, statusWords } from './job-summary.ts';

const MOST = 1_000;
const USUAL = 20;

export async function ls(call: Call): Promise<number> {
  const [queue, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  const query = queryOf(call);
  return withTarget(call, async (target) => {
    if (queue !== undefined) await checkQueueIsKnown(target, queue);
    const page = await target.longhaul.list({ ...query, ...(queue !== undefined && { queue }) });
    if (call.flag('json')) printJson(page);
    else printPage(page, queue === undefined);
    return 0;
  });
}

const words = object({ state: oneOf(...JOB_STATES), label: oneOf(...LABELS) });

function queryOf(call: Call): Omit<JobQuery, 'order'> {
  const { state, label } = checked('ls', { state: call.text('state'), label: call.text('label') }, words);
  const texts = ['tag', 'name', 'worker', 'group', 'after'].flatMap((name) => {
    const value = call.text(name);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    limit: call.number('limit', [1, MOST]) ?? USUAL,
    ...(state !== undefined && { state }),
    ...(label !== undefined && { label }),
    ...(Object.fromEntries(texts) as Partial<JobQuery>),
  };
}

export function printPage({ jobs, next }: { jobs: readonly JobView[]; next: string | null }, hasQueues: boolean): void {
  const now = Date.now();
  if (jobs.length === 0) remark(next === null ? 'no jobs' : 'no jobs on this page');
  else for (const line of table(columns(now, hasQueues), jobs, screenOf())) print(line);
  if (next !== null) remark(`there are more: --after ${next}`);
}

function columns(now: number, hasQueues: boolean): Column<JobView>[] {
  const queue: Column<JobView> = { title: 'QUEUE', of: (job) => job.queue };
  return [
    { title: 'ID', isWhole: true, of: ({ id }) => id },
    ...(hasQueues ? [queue] : []),
    { title: 'STATE', isWhole: true, of: labelCell },
    { title: 'NAME', of: ({ name }) => name ?? '' },
    { title: 'ADDED', isWhole: true, of: ({ createdAt }) => age(createdAt, now) },
    { title: 'PROGRESS', isWhole: true, of: progressWords },
    { title: 'STATUS', of: statusWords },
  ];
}
