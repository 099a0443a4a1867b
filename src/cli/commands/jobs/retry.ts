/** `longhaul retry`: requeues ended jobs, by id or all failed ones. */
import type { Requeue } from '../../../core/ports/job-store.ts';
import { plural } from '../../../wire/spans.ts';
import { print, printJson } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { fullId } from '../../target/job-ids.ts';
import { requireQueue } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import type { JobResult } from './bulk-jobs.ts';
import { jobPages, printResults } from './bulk-jobs.ts';

export async function retry(args: Args): Promise<number> {
  const ids = args.positionals;
  const isAll = args.flag('failed');
  if (isAll ? ids.length > 0 : ids.length === 0)
    throw args.usageError(isAll ? 'ID and --failed cannot be combined' : 'ID is missing');
  if (!isAll && (args.text('queue') ?? args.text('group')) !== undefined)
    throw args.usageError('--queue and --group require --failed');
  return withTarget(args, async (target) => {
    if (isAll) return retryFailed(args, target);
    const jobs: Requeue[] = [];
    for (const given of ids) jobs.push({ id: await fullId(target, given), ...freshOf(args) });
    return printResults(target, await requeue(target, jobs), args.flag('json'));
  });
}

const freshOf = (args: Args): Pick<Requeue, 'fresh'> => (args.flag('fresh') ? { fresh: true } : {});

async function requeue(target: Target, jobs: readonly Requeue[]): Promise<JobResult[]> {
  if (jobs.length === 0) return [];
  const answers = await target.longhaul.store.jobs.requeue(jobs);
  return answers.map((answer, index) => ({
    id: jobs[index]?.id ?? '',
    answer: answer.ok ? { ok: true, outcome: 'requeued' } : answer,
  }));
}

async function retryFailed(args: Args, target: Target): Promise<number> {
  const [queue, group] = [args.text('queue'), args.text('group')];
  if (queue !== undefined) await requireQueue(target, queue);
  const query = {
    state: 'failed' as const,
    ...(queue !== undefined && { queue }),
    ...(group !== undefined && { group }),
  };
  let [done, refused] = [0, 0];
  for await (const jobs of jobPages(target, query)) {
    const results = await requeue(
      target,
      jobs.map((job) => ({ ...job, ...freshOf(args) })),
    );
    done += results.filter(({ answer }) => answer.ok).length;
    refused += results.filter(({ answer }) => !answer.ok).length;
  }
  if (args.flag('json')) printJson({ requeued: done, refused });
  else print(`requeued ${plural(done, 'failed job')}${refused === 0 ? '' : `, ${refused} refused`}`);
  return refused === 0 ? 0 : 1;
}
