/** `longhaul cancel`: cancels jobs, including running ones. */
import { checked, oneOf } from '../../../core/input/check.ts';
import type { JobState } from '../../../core/job/job.ts';
import type { Target as JobTarget } from '../../../core/ports/job-store.ts';
import { plural } from '../../../wire/spans.ts';
import { canAsk, confirm } from '../../output/confirm.ts';
import { print, printJson, printNotice } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { fullId } from '../../target/job-ids.ts';
import { requireQueue } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import type { JobResult } from './bulk-jobs.ts';
import { jobPages, printResults } from './bulk-jobs.ts';

export async function cancel(args: Args): Promise<number> {
  const queue = args.text('queue');
  const ids = args.positionals;
  if (queue === undefined ? ids.length === 0 : ids.length > 0)
    throw args.usageError(queue === undefined ? 'ID is missing' : 'ID and --queue cannot be combined');
  if (queue === undefined && args.text('state') !== undefined) throw args.usageError('--state requires --queue');
  const state = checked('--state', args.text('state') ?? 'waiting', oneOf('draft', 'waiting', 'running'));
  const given = args.text('dependents');
  const dependents = given === undefined ? undefined : checked('--dependents', given, oneOf('cancel', 'leave'));
  return withTarget(args, async (target) => {
    if (queue !== undefined) return cancelAll(args, target, { queue, state, dependents });
    const results: JobResult[] = [];
    for (const given of ids) {
      const id = await fullId(target, given);
      results.push(...(await cancelOne(args, target, { id, dependents })));
    }
    return printResults(target, results, args.flag('json'));
  });
}

type Dependents = 'cancel' | 'leave' | undefined;

/** Cancels one job. If other jobs depend on it, asks at a terminal; without a terminal, --dependents must decide. */
async function cancelOne(
  args: Args,
  target: Target,
  { id, dependents }: { id: string; dependents: Dependents },
): Promise<JobResult[]> {
  const results = await cancelJobs(target, [{ id }], dependents);
  const [first] = results;
  if (first === undefined || first.answer.ok || !hasDependents(first)) return results;
  const { message } = first.answer.refusal;
  const refusal = { ...first.answer.refusal, message: `${message}: ${DEPENDENTS_HINT}` };
  if (!canAsk(args)) return [{ id, answer: { ok: false, refusal } }];
  const waiting = plural(first.answer.refusal.dependents ?? 0, 'dependent job');
  const isConfirmed = await confirm(args, `cancel ${id} and ${waiting}`);
  return isConfirmed ? cancelJobs(target, [{ id }], 'cancel') : [{ id, answer: { ok: false, refusal } }];
}

async function cancelJobs(target: Target, jobs: readonly JobTarget[], dependents: Dependents): Promise<JobResult[]> {
  if (jobs.length === 0) return [];
  const requests = jobs.map((each) => ({ ...each, ...(dependents !== undefined && { dependents }) }));
  const answers = await target.longhaul.store.jobs.cancel(requests);
  return answers.map((answer, index) => ({
    id: jobs[index]?.id ?? '',
    answer: answer.ok ? { ok: true, outcome: answer.outcome } : answer,
  }));
}

/**
 * Cancels newest first. Jobs at the front of the queue, which may be claimed at any moment, come last. A job that depends
 * on another one of the same queue comes before it. For jobs that still have dependents, asks as in `cancelOne`.
 */
async function cancelAll(args: Args, target: Target, { queue, state, dependents }: CancelQuery): Promise<number> {
  await requireQueue(target, queue);
  const count = (await target.longhaul.queue(queue).count())[state];
  const description = `${plural(count, `${state} job`)} of queue ${queue}`;
  if (count > 0 && !(await confirm(args, `cancel ${description}`))) return 1;
  const { cancelled, refused } = await cancelPages(target, { queue, state, dependents });
  const isConfirmed = refused.length > 0 && canAsk(args) && (await confirm(args, dependentsAction(refused, queue)));
  const more = isConfirmed ? await cancelJobs(target, refused, 'cancel') : [];
  const done = cancelled + more.filter(({ answer }) => answer.ok).length;
  const left = isConfirmed ? 0 : refused.length;
  if (args.flag('json')) printJson({ queue, state, cancelled: done, hasDependents: left });
  else print(`cancelled ${done} of ${description}`);
  if (left > 0)
    printNotice(
      `longhaul: ${plural(left, 'job')} of queue ${queue} not cancelled, because other jobs depend on ${left === 1 ? 'it' : 'them'}: ${DEPENDENTS_HINT}`,
    );
  return left === 0 ? 0 : 1;
}

const DEPENDENTS_HINT = 'use --dependents cancel or --dependents leave';

function dependentsAction(jobs: readonly JobTarget[], queue: string): string {
  return `cancel ${plural(jobs.length, 'more job')} of queue ${queue}, each with its dependent jobs`;
}

interface CancelQuery {
  readonly queue: string;
  readonly state: JobState;
  readonly dependents: Dependents;
}

/** `refused`: jobs that were not cancelled because other jobs depend on them. */
async function cancelPages(target: Target, { queue, state, dependents }: CancelQuery) {
  let cancelled = 0;
  const refused: JobTarget[] = [];
  for await (const jobs of jobPages(target, { queue, state })) {
    const results = await cancelJobs(target, jobs, dependents);
    cancelled += results.filter(({ answer }) => answer.ok).length;
    refused.push(...jobs.filter((_, index) => hasDependents(results[index])));
  }
  return { cancelled, refused };
}

function hasDependents(result: JobResult | undefined): boolean {
  return result !== undefined && !result.answer.ok && result.answer.refusal.code === 'has-dependents';
}
