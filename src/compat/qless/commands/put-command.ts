/**
 * `put`: a new job, or an existing one that goes to a queue and starts anew there, whichever worker had it.
 *
 * Everything that could be refused is checked before the first change. A canceled job is gone: a put of its id creates a
 * new one.
 */
import { checked, listOf } from '../../../core/input/check.ts';
import type { Job } from '../../../core/job/job.ts';
import { isBlocked, isEnded } from '../../../core/job/job.ts';
import { displayName, jobId, tag } from '../../../core/job/names.ts';
import type { NewJob, TargetResult } from '../../../core/ports/job-store.ts';
import type { Refused } from '../../../core/ports/refusal.ts';
import { throttleNames } from '../../../core/settings/limit-input.ts';
import { count, priority } from '../../../core/settings/policy-input.ts';
import type { Arguments, Call, Command } from '../arguments.ts';
import { asText, listArgument, numberArgument, pairs, raise, secondsArgument, textArgument } from '../arguments.ts';
import { DEFAULT_RETRIES, useQueue } from '../config.ts';
import { EVERY, idsOf, jobsOf } from '../pages.ts';
import { toNote } from '../qless-history.ts';
import { failureOf, findJob, needJob, retagged } from '../qless-job.ts';
import { replaceJob } from '../replace-job.ts';
import { jobArguments, priorityArgument, tagsArgument, throttlesArgument } from './job-arguments.ts';

/** What is put. In an existing job, fields that are not given stay as they are; throttles are always replaced. */
export interface Put {
  readonly id: string;
  readonly queue: string;
  readonly data: string;
  /** The worker that puts it: it gets no `lock_lost` for a job that it held itself. */
  readonly by: string;
  readonly name?: string;
  readonly delayMs: number;
  /** Lower runs first. */
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly retries?: number;
  /** Of a new job, if `retries` is not given. */
  readonly defaultRetries?: number;
  readonly dependsOn?: readonly string[];
  readonly throttles?: readonly string[];
}

export const putCommands: Readonly<Record<string, Command>> = {
  put: async (call, args) => putJob(call, readPut(args, 'Put')),
  requeue: async (call, args) => {
    const put = readPut(args, 'Requeue');
    await needJob(call, put.id, 'Requeue');
    return putJob(call, put);
  },
};

const OPTIONS = ['priority', 'tags', 'retries', 'depends', 'throttles'];

function readPut([worker, queue, jid, klass, data, delay, ...rest]: Arguments, command: string): Put {
  const given = pairs(rest, OPTIONS, command);
  const id = textArgument(jid, command, 'jid');
  const { klass: name, ...job } = jobArguments({ queue, klass, data }, command);
  return {
    id,
    ...job,
    by: asText(worker ?? ''),
    name,
    delayMs: secondsArgument(delay, command, 'delay'),
    ...(given['priority'] !== undefined && { priority: priorityArgument(given['priority'], command) }),
    ...(given['tags'] !== undefined && { tags: tagsArgument(given['tags'], command) }),
    ...(given['retries'] !== undefined && { retries: numberArgument(given['retries'], command, 'retries') }),
    ...(given['depends'] !== undefined && { dependsOn: listArgument(given['depends'], command, 'depends') }),
    throttles: throttlesArgument(given['throttles'] ?? '[]', command),
  };
}

export async function putJob(call: Call, put: Put): Promise<string> {
  checkPut(put);
  const dependsOn = await openParents(call, put.dependsOn ?? []);
  const job = newJobOf(call, put, dependsOn);
  // In one round trip, because most jobs are new: the store changes nothing if the job exists. A queue that is set up
  // only afterwards is early enough for the pop, which sets it up too.
  const [isNew] = await Promise.all([isAdded(call, job), useQueue(call, put.queue)]);
  if (isNew) return put.id;
  const [known] = await call.longhaul.store.jobs.find([put.id]);
  if (known === undefined || known === null) await isAdded(call, job);
  else if (known.state === 'cancelled') {
    must('Put', await call.longhaul.store.jobs.delete([put.id]));
    await isAdded(call, job);
  } else await putAgain(call, known, { ...put, dependsOn });
  return put.id;
}

/** Adds the job. Returns false if a job with its id exists. */
async function isAdded(call: Call, job: NewJob): Promise<boolean> {
  const [answer] = await call.longhaul.store.jobs.add([job]);
  if (answer?.ok === false) return refused('Put', answer);
  return answer?.outcome === 'added';
}

function checkPut({ id, name, priority: given, tags, retries, throttles }: Put): void {
  checked('jid', id, jobId);
  if (name !== undefined) checked('klass', name, displayName);
  if (given !== undefined) checked('priority', given, priority);
  if (tags !== undefined) checked('tags', tags, listOf(tag, 100));
  if (retries !== undefined) checked('retries', retries, count);
  if (throttles !== undefined) checked('throttles', throttles, throttleNames);
}

function newJobOf(call: Call, put: Put, dependsOn: readonly string[]): NewJob {
  const { id, queue, name, data, tags, throttles = [] } = put;
  return {
    id,
    queue,
    data,
    ...dueAt(call, put.delayMs),
    priority: put.priority ?? 0,
    policy: {
      retries: put.retries ?? put.defaultRetries ?? DEFAULT_RETRIES,
      ...(throttles.length > 0 && { throttles }),
    },
    ...(name !== undefined && { name }),
    ...(tags !== undefined && { tags: [...new Set(tags)] }),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
}

/** Clocks of callers differ. A job without a delay can be popped by a caller whose clock is this much behind. */
const CLOCK_SKEW_MS = 60_000;

function dueAt({ nowMs }: Call, delayMs: number): { readonly runAt: number } {
  return { runAt: delayMs > 0 ? nowMs + delayMs : Math.max(0, nowMs - CLOCK_SKEW_MS) };
}

/** Returns the jobs to wait for: those that exist and are not complete. */
export async function openParents(call: Call, ids: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(ids.map((id) => findJob(call, id)));
  return ids.filter((_, place) => (found[place]?.state ?? 'done') !== 'done');
}

type Again = Put & { readonly dependsOn: readonly string[] };

/** No worker gets the job before the second step. If that step never comes, the job runs unchanged after this time. */
const ASIDE_MS = 60_000;

async function putAgain(call: Call, known: Job, put: Again): Promise<void> {
  await mustNotWaitForItself(call, known, put.dependsOn);
  if (changesPolicy(known, put) && known.dependents === 0) {
    const earlier = await jobsOf(call, { child: known.id }, EVERY);
    const dependsOn = put.dependsOn.length > 0 ? put.dependsOn : idsOf(isBlocked(known) ? earlier : []);
    const tags = put.tags === undefined ? known.tags : retagged(known, put.tags);
    const all = { ...put, tags, priority: put.priority ?? known.priority };
    const retries = put.retries ?? known.policy.retries ?? DEFAULT_RETRIES;
    return replaceJob(call, known, { job: newJobOf(call, { ...all, retries }, dependsOn), by: put.by });
  }
  const { jobs } = call.longhaul.store;
  const { id, queue, by } = put;
  await leaveQueue(call, known, { next: queue, by });
  must('Put', await jobs.requeue([{ id, queue, steal: true, delayMs: ASIDE_MS }]));
  must('Put', await jobs.change([await changesOf(call, known, put)]));
}

function changesPolicy({ policy }: Job, { retries, throttles }: Put): boolean {
  if (retries !== undefined && retries !== (policy.retries ?? DEFAULT_RETRIES)) return true;
  return throttles !== undefined && String(throttles) !== String(policy.throttles ?? []);
}

async function changesOf(call: Call, known: Job, put: Again) {
  const { id, data, name, priority: given, tags, dependsOn, delayMs } = put;
  const earlier = dependsOn.length === 0 ? [] : idsOf(await jobsOf(call, { child: known.id }, EVERY));
  return {
    id,
    data,
    ...dueAt(call, delayMs),
    ...(name !== undefined && { name }),
    ...(given !== undefined && { priority: given }),
    ...(tags !== undefined && { tags: retagged(known, tags) }),
    ...(dependsOn.length > 0 && { dependsOn: { add: dependsOn, remove: earlier } }),
  };
}

/** The store refuses a cycle too, but only after the job has left its queue. */
async function mustNotWaitForItself(call: Call, job: Job, dependsOn: readonly string[]): Promise<void> {
  if (dependsOn.includes(job.id)) raise(`Put(): job ${job.id} cannot wait for itself`);
  const pending = job.dependents > 0 && dependsOn.length > 0 ? [job.id] : [];
  const known = new Set(pending);
  for (const parent of pending)
    for (const { id, state } of await jobsOf(call, { parent }, EVERY)) {
      if (isEnded(state) || known.has(id)) continue;
      if (dependsOn.includes(id)) raise(`Put(): job ${job.id} cannot wait for ${id}, which waits for it`);
      known.add(id);
      pending.push(id);
    }
}

interface Leaving {
  readonly next: string;
  readonly by?: string;
  readonly silent?: boolean;
}

/** Notes what the history does not keep: the queue that the job leaves, its failure, and the worker that puts it. */
export async function leaveQueue(call: Call, job: Job, { next, by, silent }: Leaving): Promise<void> {
  const { jobs } = call.longhaul.store;
  if (job.queue === next && !isEnded(job.state) && job.lease === null) return;
  const failure = failureOf(job, job.failure === null ? [] : await jobs.history(job.id));
  const note = toNote({
    from: job.queue,
    ...(by !== undefined && { by }),
    ...(silent === true && { silent }),
    ...(failure !== null && { failure: { ...failure, message: failure.message.slice(0, MOST_MESSAGE) } }),
  });
  await jobs.change([{ id: job.id, note }]);
}

/** A note is cut at 4,096 characters; a message must leave room for the rest of it. */
const MOST_MESSAGE = 1_000;

export function must(command: string, answers: readonly (TargetResult | undefined)[]): void {
  for (const answer of answers) if (answer?.ok === false) refused(command, answer);
}

export function refused(command: string, { refusal }: Refused): never {
  return raise(`${command}(): ${refusal.message}`);
}
