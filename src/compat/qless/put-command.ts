/** `put`: a new job, or an existing one that goes to another queue and starts anew there, whoever had it. */
import { checked, listOf } from '../../core/input/check.ts';
import type { Job } from '../../core/job/job.ts';
import { isEnded } from '../../core/job/job.ts';
import { displayName, jobId, tag } from '../../core/job/names.ts';
import type { NewJob, TargetResult } from '../../core/ports/job-store.ts';
import type { Refused } from '../../core/ports/refusal.ts';
import { throttleNames } from '../../core/settings/limit-input.ts';
import { count, priority } from '../../core/settings/policy-input.ts';
import type { Arguments, Call, Command } from './arguments.ts';
import {
  jsonArgument,
  listArgument,
  numberArgument,
  pairs,
  queueArgument,
  raise,
  secondsArgument,
  textArgument,
} from './arguments.ts';
import { DEFAULT_RETRIES, useQueue } from './config.ts';
import { toNote } from './qless-history.ts';
import { findJob, flipped, needJob } from './qless-job.ts';

/** What is put, in Longhaul's words; what is not said stays as it is in a job that exists. */
export interface Put {
  readonly id: string;
  readonly queue: string;
  readonly data: string;
  readonly name?: string;
  readonly delayMs: number;
  /** Lower first. */
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly retries?: number;
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

function readPut([, queue, jid, klass, data, delay, ...rest]: Arguments, command: string): Put {
  const given = pairs(rest, OPTIONS, command);
  return {
    id: textArgument(jid, command, 'jid'),
    queue: queueArgument(queue, command),
    name: textArgument(klass, command, 'klass'),
    data: jsonArgument(data, command, 'data'),
    delayMs: secondsArgument(delay, command, 'delay'),
    ...(given['priority'] !== undefined && {
      priority: flipped(numberArgument(given['priority'], command, 'priority')),
    }),
    ...(given['tags'] !== undefined && { tags: listArgument(given['tags'], command, 'tags') }),
    ...(given['retries'] !== undefined && { retries: numberArgument(given['retries'], command, 'retries') }),
    ...(given['depends'] !== undefined && { dependsOn: listArgument(given['depends'], command, 'depends') }),
    ...(given['throttles'] !== undefined && { throttles: listArgument(given['throttles'], command, 'throttles') }),
  };
}

export async function putJob(call: Call, put: Put): Promise<string> {
  checkPut(put);
  await useQueue(call, put.queue);
  const dependsOn = await openParents(call, put.dependsOn ?? []);
  const [known] = await call.longhaul.store.jobs.find([put.id]);
  if (known !== null && known !== undefined) await putAgain(call, known, { ...put, dependsOn });
  else {
    const [answer] = await call.longhaul.store.jobs.add([newJobOf(put, dependsOn)]);
    if (answer?.ok === false) refused('Put', answer);
  }
  return put.id;
}

function checkPut({ id, name, priority: given, tags, retries, throttles }: Put): void {
  checked('jid', id, jobId);
  if (name !== undefined) checked('klass', name, displayName);
  if (given !== undefined) checked('priority', given, priority);
  if (tags !== undefined) checked('tags', tags, listOf(tag, 100));
  if (retries !== undefined) checked('retries', retries, count);
  if (throttles !== undefined) checked('throttles', throttles, throttleNames);
}

function newJobOf(put: Put, dependsOn: readonly string[]): NewJob {
  const { id, queue, name, data, delayMs, tags, throttles } = put;
  return {
    id,
    queue,
    data,
    delayMs: Math.max(0, delayMs),
    priority: put.priority ?? 0,
    policy: { retries: put.retries ?? DEFAULT_RETRIES, ...(throttles !== undefined && { throttles }) },
    ...(name !== undefined && { name }),
    ...(tags !== undefined && { tags: [...new Set(tags)] }),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
}

/** Those that are not there or are complete are nothing to wait for. */
export async function openParents(call: Call, ids: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(ids.map((id) => findJob(call, id)));
  return ids.filter((_, place) => (found[place]?.state ?? 'done') !== 'done');
}

/** Nobody may have it before it is as it shall be; should the second step never come, it is had as it was, a little late. */
const ASIDE_MS = 60_000;

async function putAgain(call: Call, known: Job, put: Put & { readonly dependsOn: readonly string[] }): Promise<void> {
  const { jobs } = call.longhaul.store;
  const { id, queue, name, data, delayMs, priority: given, tags, dependsOn } = put;
  await leaveQueue(call, known, queue);
  must('Put', await jobs.requeue([{ id, queue, steal: true, delayMs: ASIDE_MS }]));
  const changes = {
    id,
    data,
    runAt: call.nowMs + Math.max(0, delayMs),
    ...(name !== undefined && { name }),
    ...(given !== undefined && { priority: given }),
    ...(tags !== undefined && { tags: [...new Set(tags)] }),
    ...(dependsOn.length > 0 && { dependsOn: { add: dependsOn } }),
  };
  must('Put', await jobs.change([changes]));
}

/** History names no queue: this says which one it was, before the job is elsewhere. */
export async function leaveQueue(call: Call, { id, queue, state }: Job, next: string): Promise<void> {
  if (queue === next && !isEnded(state)) return;
  await call.longhaul.store.jobs.change([{ id, note: toNote({ from: queue }) }]);
}

export function must(command: string, answers: readonly (TargetResult | undefined)[]): void {
  for (const answer of answers) if (answer?.ok === false) refused(command, answer);
}

export function refused(command: string, { refusal }: Refused): never {
  return raise(`${command}(): ${refusal.message}`);
}
