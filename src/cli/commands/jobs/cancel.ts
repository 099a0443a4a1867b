/** `longhaul cancel`: ends jobs for good, also while they run. */
import { checked, oneOf } from '../../../core/input/check.ts';
import type { JobState } from '../../../core/job/job.ts';
import type { Target as Seen } from '../../../core/ports/job-store.ts';
import { plural } from '../../../wire/spans.ts';
import { confirm, isAsked } from '../../output/confirm.ts';
import { print, printJson, remark } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { checkQueueIsKnown } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import type { Decided } from './many-jobs.ts';
import { jobsOf, sayDecided } from './many-jobs.ts';

export async function cancel(call: Call): Promise<number> {
  const queue = call.text('queue');
  const ids = call.positionals;
  if (queue === undefined ? ids.length === 0 : ids.length > 0)
    throw call.wrong(queue === undefined ? 'ID is missing' : 'name jobs, or --queue, not both');
  if (queue === undefined && call.text('state') !== undefined) throw call.wrong('--state goes with --queue');
  const state = checked('--state', call.text('state') ?? 'waiting', oneOf('draft', 'waiting', 'running'));
  const given = call.text('dependents');
  const dependents = given === undefined ? undefined : checked('--dependents', given, oneOf('cancel', 'leave'));
  return withTarget(call, async (target) => {
    if (queue !== undefined) return cancelAll(call, target, { queue, state, dependents });
    const decided: Decided[] = [];
    for (const id of ids) decided.push(...(await cancelAsking(call, target, { id, dependents })));
    return sayDecided(target, decided, call.flag('json'));
  });
}

type Dependents = 'cancel' | 'leave' | undefined;

/** Somebody at a terminal is asked about those who wait for the job; anybody else must say it beforehand. */
async function cancelAsking(
  call: Call,
  target: Target,
  { id, dependents }: { id: string; dependents: Dependents },
): Promise<Decided[]> {
  const decided = await cancelThese(target, [{ id }], dependents);
  const [first] = decided;
  if (first === undefined || first.answer.ok || !isAwaited(first)) return decided;
  const { message } = first.answer.refusal;
  const refusal = { ...first.answer.refusal, message: `${message}: ${ABOUT_DEPENDENTS}` };
  if (!isAsked(call)) return [{ id, answer: { ok: false, refusal } }];
  const waiting = plural(first.answer.refusal.dependents ?? 0, 'job');
  const isAlong = await confirm(call, `cancel ${id} and with it ${waiting} waiting for it`);
  return isAlong ? cancelThese(target, [{ id }], 'cancel') : [{ id, answer: { ok: false, refusal } }];
}

async function cancelThese(target: Target, seen: readonly Seen[], dependents: Dependents): Promise<Decided[]> {
  if (seen.length === 0) return [];
  const asked = seen.map((each) => ({ ...each, ...(dependents !== undefined && { dependents }) }));
  const answers = await target.longhaul.store.jobs.cancel(asked);
  return answers.map((answer, place) => ({
    id: seen[place]?.id ?? '',
    answer: answer.ok ? { ok: true, words: answer.outcome } : answer,
  }));
}

/**
 * The newest first: what is at the front, and may be claimed at any moment, comes last, and a job that waits for another
 * of the same queue comes before it. A job that still has dependents then is asked about, as in a cancel of one.
 */
async function cancelAll(call: Call, target: Target, { queue, state, dependents }: Cancelling): Promise<number> {
  await checkQueueIsKnown(target, queue);
  const count = (await target.longhaul.queue(queue).count())[state];
  const which = `${plural(count, `${state} job`)} of queue ${queue}`;
  if (count > 0 && !(await confirm(call, `cancel ${which}`))) return 1;
  const found = await cancelPages(target, { queue, state, dependents });
  const isAlong = found.awaited.length > 0 && isAsked(call) && (await confirm(call, alongWords(found.awaited, queue)));
  const along = isAlong ? await cancelThese(target, found.awaited, 'cancel') : [];
  const done = found.done + along.filter(({ answer }) => answer.ok).length;
  const left = isAlong ? 0 : found.awaited.length;
  if (call.flag('json')) printJson({ queue, state, cancelled: done, hasDependents: left });
  else print(`cancelled ${done} of ${which}`);
  if (left > 0) remark(`longhaul: other jobs wait for ${plural(left, 'job')} of queue ${queue}: ${ABOUT_DEPENDENTS}`);
  return left === 0 ? 0 : 1;
}

const ABOUT_DEPENDENTS = '--dependents cancel, or --dependents leave';

function alongWords(awaited: readonly Seen[], queue: string): string {
  return `cancel ${plural(awaited.length, 'more job')} of queue ${queue}, and with each the jobs waiting for it`;
}

interface Cancelling {
  readonly queue: string;
  readonly state: JobState;
  readonly dependents: Dependents;
}

/** `awaited`: jobs that were not cancelled because other jobs wait for them. */
async function cancelPages(target: Target, { queue, state, dependents }: Cancelling) {
  let done = 0;
  const awaited: Seen[] = [];
  for await (const seen of jobsOf(target, { queue, state })) {
    const decided = await cancelThese(target, seen, dependents);
    done += decided.filter(({ answer }) => answer.ok).length;
    awaited.push(...seen.filter((_, place) => isAwaited(decided[place])));
  }
  return { done, awaited };
}

function isAwaited(decided: Decided | undefined): boolean {
  return decided !== undefined && !decided.answer.ok && decided.answer.refusal.code === 'has-dependents';
}
