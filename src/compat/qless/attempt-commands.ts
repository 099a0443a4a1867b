/**
 * What a worker says of the job it was given: `complete`, `fail`, `retry`, `heartbeat`; and `timeout`, which takes it away.
 * Without a worker a call speaks for whoever holds the job; with one it must be that one.
 */
import type { Job, RunningJob } from '../../core/job/job.ts';
import { isRunning } from '../../core/job/job.ts';
import type { Settlement } from '../../core/ports/job-store.ts';
import type { Call, Command } from './arguments.ts';
import {
  jsonArgument,
  listArgument,
  pairs,
  queueArgument,
  raise,
  said,
  secondsArgument,
  textArgument,
  wrong,
} from './arguments.ts';
import { exhaustedGroup, useQueue } from './config.ts';
import { leaveQueue, must, openParents } from './put-command.ts';
import { exhaustedWords, findJob, stateOf } from './qless-job.ts';

/** How each command says that the job is not the worker's. */
export interface Words {
  readonly command: string;
  readonly notRunning: string;
  readonly another: string;
}

const HEARTBEAT: Words = {
  command: 'Heartbeat',
  notRunning: 'Job not currently running',
  another: 'Job given out to another worker',
};
const COMPLETE: Words = {
  command: 'Complete',
  notRunning: 'Job is not currently running',
  another: 'Job has been handed out to another worker',
};
const FAIL: Words = {
  command: 'Fail',
  notRunning: 'Job not currently running',
  another: 'Job running with another worker',
};
const RETRY: Words = {
  command: 'Retry',
  notRunning: 'Job is not currently running',
  another: 'Job has been given to another worker',
};
const TIMEOUT: Words = { command: 'Timeout', notRunning: 'Job not running', another: '' };

export async function heldJob(call: Call, jid: unknown, worker: unknown, words: Words): Promise<RunningJob> {
  const { command } = words;
  const job = await findJob(call, textArgument(jid, command, 'jid'));
  if (job === null) return raise(`${command}(): Job does not exist`);
  if (!isRunning(job)) return raise(`${command}(): ${words.notRunning}: ${stateOf(job, call.nowMs)}`);
  const isNamed = worker !== undefined && worker !== null && worker !== '';
  if (isNamed && job.lease.worker !== said(worker)) return raise(`${command}(): ${words.another}: ${job.lease.worker}`);
  return job;
}

/** Each end of an attempt without the lease that it is said under. */
type Unleased<Each> = Each extends Settlement ? Omit<Each, 'id' | 'token'> : never;
export type End = Unleased<Settlement>;

/** Somebody else may have been faster: then the job is not the worker's any more. */
export async function settleAs(call: Call, job: RunningJob, end: End, words: Words): Promise<Job> {
  const { jobs } = call.longhaul.store;
  const [answer] = await jobs.settle([{ ...end, id: job.id, token: job.lease.token } as Settlement]);
  const [after] = await jobs.find([job.id]);
  if (answer?.ok === false)
    return raise(
      answer.refusal.code === 'lease-lost'
        ? `${words.command}(): ${words.another}: ${after?.lease?.worker ?? ''}`
        : `${words.command}(): ${answer.refusal.message}`,
    );
  return after ?? raise(`${words.command}(): Job does not exist`);
}

export const attemptCommands: Readonly<Record<string, Command>> = {
  complete: async (call, [jid, worker, queue, data, ...rest]) => {
    const given = pairs(rest, ['next', 'delay', 'depends'], 'Complete');
    if (given['next'] === undefined)
      for (const name of ['delay', 'depends'])
        if (given[name] !== undefined) wrong(`Complete(): "${name}" cannot be used without a "next".`);
    const job = await heldJob(call, jid, worker, COMPLETE);
    if (job.queue !== queueArgument(queue, 'Complete')) raise(`Complete(): Job running in another queue: ${job.queue}`);
    return completeJob(call, job, {
      data: jsonArgument(data, 'Complete', 'data'),
      ...(given['next'] !== undefined && { next: textArgument(given['next'], 'Complete', 'next') }),
      delayMs: secondsArgument(given['delay'] ?? 0, 'Complete', 'delay'),
      depends: listArgument(given['depends'] ?? '[]', 'Complete', 'depends'),
    });
  },
  fail: async (call, [jid, worker, group, message, data]) => {
    const end = failure(textArgument(group, 'Fail', 'group'), textArgument(message, 'Fail', 'message'));
    const job = await heldJob(call, jid, worker, FAIL);
    if (data !== undefined) await beat(call, job, { data: jsonArgument(data, 'Fail', 'data') }, FAIL);
    await settleAs(call, job, { kind: 'fail', failure: end, delayMs: 0, final: true }, FAIL);
    return job.id;
  },
  retry: async (call, [jid, queue, worker, delay, group, message]) => {
    const delayMs = secondsArgument(delay ?? 0, 'Retry', 'delay');
    const next = queueArgument(queue, 'Retry');
    const job = await heldJob(call, jid, worker, RETRY);
    const isSaid = group !== undefined && message !== undefined;
    const end: End = isSaid
      ? { kind: 'fail', failure: failure(said(group), said(message)), delayMs }
      : { kind: 'retry', failure: failure(exhaustedGroup(job.queue), exhaustedWords(job.queue)), delayMs };
    const after = await settleAs(call, job, end, RETRY);
    if (after.state === 'waiting' && next !== after.queue) await moveJob(call, after, next);
    return (after.policy.retries ?? 0) - after.failures;
  },
  heartbeat: async (call, [jid, worker, data]) => {
    const job = await heldJob(call, jid, worker, HEARTBEAT);
    const said = data === undefined ? {} : { data: jsonArgument(data, 'Heartbeat', 'data') };
    return beat(call, job, said, HEARTBEAT);
  },
  timeout: async (call, jids) => {
    for (const jid of jids) {
      const job = await heldJob(call, jid, undefined, TIMEOUT);
      await settleAs(call, job, { kind: 'release', reason: 'timed out' }, TIMEOUT);
    }
    return null;
  },
};

async function moveJob(call: Call, job: Job, queue: string): Promise<void> {
  await useQueue(call, queue);
  await leaveQueue(call, job, queue);
  must('Retry', await call.longhaul.store.jobs.move([{ id: job.id, queue }]));
}

const failure = (group: string, message: string) => ({ group, message, detail: null });

export interface Completion {
  readonly data?: string;
  readonly next?: string;
  readonly delayMs: number;
  readonly depends: readonly string[];
}

/** `complete`, or the state in which it waits in the next queue. */
export async function completeJob(call: Call, job: RunningJob, given: Completion): Promise<string> {
  const { data, next, delayMs } = given;
  const said = { kind: 'complete' as const, ...(data !== undefined && { data }) };
  if (next === undefined) return stateOf(await settleAs(call, job, said, COMPLETE), call.nowMs);
  await useQueue(call, next);
  await leaveQueue(call, job, next);
  const dependsOn = await openParents(call, given.depends);
  const to = { queue: next, delayMs: Math.max(0, delayMs), ...(dependsOn.length > 0 && { dependsOn }) };
  return stateOf(await settleAs(call, job, { ...said, next: to }, COMPLETE), call.nowMs);
}

/** The new expiration. */
export async function beat(
  call: Call,
  { id, lease, queue }: RunningJob,
  said: { readonly data?: string; readonly leaseMs?: number },
  words: Words,
): Promise<number> {
  const leaseMs = said.leaseMs ?? (await call.longhaul.queue(queue).settings()).leaseMs;
  const [answer] = await call.longhaul.store.jobs.heartbeat([{ id, token: lease.token, ...said, leaseMs }]);
  return answer?.ok === true ? answer.until / 1_000 : raise(`${words.command}(): ${words.another}`);
}
