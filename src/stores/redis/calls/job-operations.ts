/** The calls of the JobStore port as operations over scripts. */
import type { CallArgument, CallName, CallResult } from '../../../core/operations/perform.ts';
import type { AddResult, JobPage, JobQuery, NewJob, WorkerHeartbeat } from '../../../core/ports/job-store.ts';
import { readHistory } from '../encoding/job-history.ts';
import { readJobs } from '../encoding/job-record.ts';
import { escapeText } from '../encoding/layout.ts';
import { addArguments } from './add-request.ts';
import * as answers from './answers.ts';
import { slicesOf } from './batcher.ts';
import { claim } from './claim.ts';
import { insight } from './insights.ts';
import * as requests from './requests.ts';
import { listOf, type Operation, type ScriptAnswer, type ScriptRunner } from './script-runner.ts';
import type { ScriptName } from './scripts.ts';
import { notifyArguments, readNotified, readStepResult, readSteps, stepArguments } from './step-operations.ts';

/** As many as a script can take without delaying other calls for more than a few milliseconds. */
export const MAX_ITEMS = 1_000;

/** Returns an operation over a list of any length, in slices that one script can take. */
function overSlices<Item, Answer>(
  name: ScriptName,
  write: (items: readonly Item[]) => readonly string[],
  read: (items: readonly Item[], answer: ScriptAnswer) => readonly Answer[],
): Operation<readonly Item[], readonly Answer[]> {
  return async (scripts, items, now) => {
    const results: Answer[] = [];
    if (items.length === 0) return results;
    for (const slice of slicesOf(items, MAX_ITEMS))
      results.push(...read(slice, await scripts.run(name, write(slice), now)));
    return results;
  };
}

/** The same for a list of jobs with one answer for each. */
function overJobs<Item extends { readonly id: string }, Answer>(
  name: ScriptName,
  write: (items: readonly Item[]) => readonly string[],
  read: (text: string, item: Item) => Answer,
): Operation<readonly Item[], readonly Answer[]> {
  return overSlices(name, write, (items, answer) => answers.readEach(items, answer, read));
}

const readTargets = (ids: readonly string[], answer: ScriptAnswer) =>
  answers.readEach(
    ids.map((id) => ({ id })),
    answer,
    answers.readTarget,
  );

export const JOB_OPERATIONS: {
  readonly [Name in CallName]: Operation<CallArgument<Name>, CallResult<Name>>;
} = {
  add: overSlices<NewJob, AddResult>('add', addArguments, answers.readAdded),
  commit: overSlices('commit', requests.idArguments, readTargets),
  delete: overSlices('delete', requests.idArguments, readTargets),
  claim,
  heartbeat: overJobs('heartbeat', requests.heartbeatArguments, answers.readHeartbeat),
  settle: overJobs('settle', requests.settleArguments, answers.readTarget),
  keepSteps: overJobs('keep-steps', stepArguments, readStepResult),
  notify: overJobs('notify', notifyArguments, readNotified),
  steps: readSteps,
  cancel: overJobs('cancel', requests.cancelArguments, answers.readCancel),
  requeue: overJobs('requeue', requests.requeueArguments, answers.readTarget),
  move: overJobs('move', requests.moveArguments, answers.readTarget),
  change: overJobs('change', requests.changeArguments, answers.readTarget),
  find: overSlices('find', (ids: readonly string[]) => ids, readFound),
  history: async (scripts, id, now) => {
    const record = await scripts.run('history', [id], now);
    return typeof record === 'string' ? readHistory(record) : [];
  },
  list: (scripts, query, now) => (query.order === 'claim' ? peek(scripts, query, now) : list(scripts, query, now)),
  count: async (scripts, queues, now) =>
    queues?.length === 0 ? [] : answers.readCounts(await scripts.run('count', queues ?? [], now)),
  insight,
  keepWorker,
  endWorker: async (scripts, { id, kind }, now) =>
    answers.readEnd(await scripts.run('end-worker', [escapeText(id), kind], now), id),
  workers: async (scripts, _argument, now) => answers.readWorkers(await scripts.run('workers', [], now)),
  maintain: async (scripts, { limit }, now) =>
    answers.readMaintenance(await scripts.run('maintain', [String(limit)], now)),
};

function readFound(ids: readonly string[], answer: ScriptAnswer): CallResult<'find'> {
  const jobs = new Map(readJobs(listOf(answer), 0).map((job) => [job.id, job]));
  return ids.map((id) => jobs.get(id) ?? null);
}

async function list(scripts: ScriptRunner, query: JobQuery, now?: number): Promise<JobPage> {
  const answer = listOf(await scripts.run('list', [requests.queryText(query)], now));
  return { jobs: readJobs(answer, 1), next: answer[0] === undefined || answer[0] === '' ? null : answer[0] };
}

async function peek(scripts: ScriptRunner, query: JobQuery, now?: number): Promise<JobPage> {
  const offset = Number(query.after ?? 0);
  const answer = await scripts.run('peek', [query.queue ?? '', String(offset), String(query.limit)], now);
  const jobs = readJobs(listOf(answer), 0);
  return { jobs, next: jobs.length < query.limit ? null : String(offset + jobs.length) };
}

async function keepWorker(
  scripts: ScriptRunner,
  { id, host, pid, queues, info, kind, leaseMs }: WorkerHeartbeat,
  now?: number,
): Promise<CallResult<'keepWorker'>> {
  const shown = escapeText(JSON.stringify({ host, pid, queues, info }));
  const answer = String(await scripts.run('keep-worker', [escapeText(id), kind, String(leaseMs), shown], now));
  return answers.refusalIn(answer, `worker ${id}`) ?? { ok: true, until: Number(answer) };
}
