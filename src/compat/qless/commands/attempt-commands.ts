/**
 * The commands of the worker that holds a job: `complete`, `fail`, `retry`, `heartbeat`; and `timeout`, which takes the
 * job away from it. A call must name the holder.
 */
import type { Failure, Job, RunningJob } from '../../../core/job/job.ts';
import { isRunning } from '../../../core/job/job.ts';
import type { Settlement } from '../../../core/ports/job-store.ts';
import type { Call, Command } from '../arguments.ts';
import {
  asText,
  jsonArgument,
  listArgument,
  pairs,
  queueArgument,
  raise,
  secondsArgument,
  textArgument,
  wrong,
} from '../arguments.ts';
import { exhaustedGroup, heartbeatMs, readConfig, useQueue } from '../config.ts';
import { afterCompletion } from '../job-retention.ts';
import { RETRIES_EXHAUSTED } from '../qless-history.ts';
import { exhaustedMessage, findJob, retriesOf, stateOf } from '../qless-job.ts';
import { leaveQueue, must, openParents } from './put-command.ts';
import { seeWorker } from './worker-commands.ts';

/** The error text for a job that the worker does not hold. */
export interface Words {
  readonly command: string;
  readonly notRunning: string;
  readonly another: string;
}

const HEARTBEAT: Words = {
  command: 'Heartbeat',
  notRunning: 'not currently running',
  another: 'given out to another worker',
};
const COMPLETE: Words = {
  command: 'Complete',
  notRunning: 'is not currently running',
  another: 'has been handed out to another worker',
};
const FAIL: Words = {
  command: 'Fail',
  notRunning: 'not currently running',
  another: 'running with another worker',
};
const RETRY: Words = {
  command: 'Retry',
  notRunning: 'is not currently running',
  another: 'has been given to another worker',
};
const TIMEOUT: Words = { command: 'Timeout', notRunning: 'not running', another: '' };

export async function heldJob(call: Call, jid: unknown, worker: unknown, words: Words): Promise<RunningJob> {
  const { command } = words;
  const holder = worker === '' ? '' : textArgument(worker, command, 'worker');
  const job = await runningJob(call, textArgument(jid, command, 'jid'), words);
  if (job.lease.worker === holder) return job;
  return raise(`${command}(): ${subject(call, job.id)} ${words.another}: ${job.lease.worker}`);
}

/** qless names the job in its errors, reqless does not. */
const subject = ({ dialect }: Call, jid: string): string => (dialect === 'qless' ? `Job ${jid}` : 'Job');

export async function runningJob(call: Call, jid: string, { command, notRunning }: Words): Promise<RunningJob> {
  const job = await findJob(call, jid);
  if (job === null) return raise(`${command}(): ${subject(call, jid)} does not exist`);
  if (isRunning(job)) return job;
  return raise(`${command}(): ${subject(call, jid)} ${notRunning}: ${stateOf(job, call.nowMs)}`);
}

/** Each settlement without its lease. */
type Unleased<Each> = Each extends Settlement ? Omit<Each, 'id' | 'token'> : never;
export type End = Unleased<Settlement>;

/** Settles the job, and returns it as it is afterwards. */
export async function settleAs(call: Call, job: RunningJob, end: End, words: Words): Promise<Job> {
  await settle(call, job, end, words);
  const [after] = await call.longhaul.store.jobs.find([job.id]);
  return after ?? raise(`${words.command}(): ${subject(call, job.id)} does not exist`);
}

/** Settles the job. Another caller may have been faster: then the worker no longer holds it. */
async function settle(call: Call, job: RunningJob, end: End, words: Words): Promise<void> {
  const { jobs } = call.longhaul.store;
  const [answer] = await jobs.settle([{ ...end, id: job.id, token: job.lease.token } as Settlement]);
  if (answer?.ok !== false) return;
  if (answer.refusal.code !== 'lease-lost') raise(`${words.command}(): ${answer.refusal.message}`);
  const [after] = await jobs.find([job.id]);
  raise(`${words.command}(): ${subject(call, job.id)} ${words.another}: ${after?.lease?.worker ?? ''}`);
}

export const attemptCommands: Readonly<Record<string, Command>> = {
  complete: async (call, [jid, worker, queue, data, ...rest]) => {
    const given = pairs(rest, ['next', 'delay', 'depends'], 'Complete');
    if (given['next'] === undefined)
      for (const name of ['delay', 'depends'])
        if (given[name] !== undefined) wrong(`Complete(): "${name}" cannot be used without a "next".`);
    const completion = {
      data: jsonArgument(data, 'Complete', 'data'),
      ...(given['next'] !== undefined && { next: textArgument(given['next'], 'Complete', 'next') }),
      delayMs: secondsArgument(given['delay'] ?? 0, 'Complete', 'delay'),
      depends: listArgument(given['depends'] ?? '[]', 'Complete', 'depends'),
    };
    const current = queueArgument(queue, 'Complete');
    const job = await heldJob(call, jid, worker, COMPLETE);
    if (job.queue !== current) raise(`Complete(): ${subject(call, job.id)} running in another queue: ${job.queue}`);
    return completeJob(call, job, completion);
  },
  fail: async (call, [jid, worker, group, message, data]) => {
    const end = failure(textArgument(group, 'Fail', 'group'), textArgument(message, 'Fail', 'message'));
    const changed = data === undefined ? null : jsonArgument(data, 'Fail', 'data');
    return failJob(call, await heldJob(call, jid, worker, FAIL), { failure: end, data: changed });
  },
  retry: async (call, [jid, queue, worker, delay, group, message]) => {
    const delayMs = secondsArgument(delay ?? 0, 'Retry', 'delay');
    const next = queueArgument(queue, 'Retry');
    const job = await heldJob(call, jid, worker, RETRY);
    const isGiven = group !== undefined && message !== undefined;
    const detail = job.failures >= retriesOf(job) ? RETRIES_EXHAUSTED : null;
    const end: End = isGiven
      ? { kind: 'fail', failure: { ...failure(asText(group), asText(message)), detail }, delayMs }
      : { kind: 'retry', failure: failure(exhaustedGroup(job.queue), exhaustedMessage(job.queue)), delayMs };
    const after = await settleAs(call, job, end, RETRY);
    if (after.state === 'waiting' && next !== after.queue) await moveJob(call, after, next);
    return retriesOf(after) - after.failures;
  },
  heartbeat: async (call, [jid, worker, data]) => {
    const changed = data === undefined ? {} : { data: jsonArgument(data, 'Heartbeat', 'data') };
    const job = await heldJob(call, jid, worker, HEARTBEAT);
    const leaseMs = Math.max(0, heartbeatMs(await readConfig(call), job.queue));
    const until = await beat(call, job, { ...changed, leaseMs }, HEARTBEAT);
    await seeWorker(call, job.lease.worker, job.queue);
    return until;
  },
  timeout: async (call, jids) => {
    for (const jid of jids) {
      const job = await runningJob(call, textArgument(jid, 'Timeout', 'jid'), TIMEOUT);
      await settleAs(call, job, { kind: 'release', reason: 'timed out' }, TIMEOUT);
    }
    return null;
  },
};

async function moveJob(call: Call, job: Job, queue: string): Promise<void> {
  await useQueue(call, queue);
  await leaveQueue(call, job, { next: queue });
  must('Retry', await call.longhaul.store.jobs.move([{ id: job.id, queue }]));
}

export const failure = (group: string, message: string): Failure => ({ group, message, detail: null });

/** Fails a job for good. Returns its id. */
export async function failJob(
  call: Call,
  job: RunningJob,
  given: { readonly failure: Failure; readonly data: string | null },
): Promise<string> {
  const { until } = job.lease;
  // The lease keeps its end: only the data changes.
  if (given.data !== null) await beat(call, job, { data: given.data, leaseMs: Math.max(0, until - call.nowMs) }, FAIL);
  await settleAs(call, job, { kind: 'fail', failure: given.failure, delayMs: 0, final: true }, FAIL);
  return job.id;
}

export interface Completion {
  readonly data?: string;
  readonly next?: string;
  readonly delayMs: number;
  readonly depends: readonly string[];
}

/** Returns `complete`, or the state in which the job waits in the next queue. */
export async function completeJob(call: Call, job: RunningJob, given: Completion): Promise<string> {
  const { data, next, delayMs } = given;
  const end = { kind: 'complete' as const, ...(data !== undefined && { data }) };
  if (next === undefined) {
    await Promise.all([settle(call, job, end, COMPLETE), readConfig(call)]);
    await afterCompletion(call);
    return 'complete';
  }
  await useQueue(call, next);
  await leaveQueue(call, job, { next });
  const dependsOn = await openParents(call, given.depends);
  const to = { queue: next, delayMs: Math.max(0, delayMs), ...(dependsOn.length > 0 && { dependsOn }) };
  return stateOf(await settleAs(call, job, { ...end, next: to }, COMPLETE), call.nowMs);
}

/** Renews the lease. Returns its new end in seconds. */
export async function beat(
  call: Call,
  { id, lease }: RunningJob,
  given: { readonly data?: string; readonly leaseMs: number },
  words: Words,
): Promise<number> {
  const [answer] = await call.longhaul.store.jobs.heartbeat([{ id, token: lease.token, ...given }]);
  return answer?.ok === true
    ? answer.until / 1_000
    : raise(`${words.command}(): ${subject(call, id)} ${words.another}`);
}
