/**
 * The JobStore port over the scripts. Nothing here decides about a job: it writes a request and reads an answer.
 *
 * Adds, settlements and heartbeats that come at the same time travel together, as long as the clock is the store's
 * own; claims never do.
 */
import type { ClockSource } from '../../../core/lifecycle/clock.ts';
import type { CallArgument, CallName, CallResult } from '../../../core/operations/perform.ts';
import { jobStoreOver } from '../../../core/operations/port.ts';
import type {
  AddResult,
  CallOptions,
  Heartbeat,
  HeartbeatResult,
  JobPage,
  JobQuery,
  JobStore,
  NewJob,
  Settlement,
  SettleResult,
  WorkerHeartbeat,
} from '../../../core/ports/job-store.ts';
import { readHistory } from '../encoding/job-history.ts';
import { readJobs } from '../encoding/job-record.ts';
import { escapeText } from '../encoding/layout.ts';
import { addArguments } from './add-request.ts';
import * as answers from './answers.ts';
import { Batcher, slicesOf } from './batcher.ts';
import { claim, claimAlong } from './claims.ts';
import { insight } from './insights.ts';
import * as requests from './requests.ts';
import { type Ask, listOf, type ScriptAnswer } from './script-runner.ts';
import type { ScriptName } from './scripts.ts';

export interface RedisJobsOptions {
  readonly clock: ClockSource;
  run(name: ScriptName, args: readonly string[]): Promise<ScriptAnswer>;
  readonly subscribe: JobStore['subscribe'];
}

type Calls = { readonly [Name in CallName]: (ask: Ask, argument: CallArgument<Name>) => Promise<CallResult<Name>> };

/** As many as a script can take without keeping the others waiting for more than a few milliseconds. */
const BATCH = { size: 1_000, batches: 2 };
/** Calls that add one job each come in hundreds. */
const ADD_BATCH = { ...BATCH, halvesFrom: 64 };

export function createRedisJobs({ clock, run, subscribe }: RedisJobsOptions): JobStore {
  const askAt = (options: CallOptions | undefined): Ask => {
    const time = clock === 'store' || options?.now === undefined ? clock : `${clock} ${options.now}`;
    return (name, args) => run(name, [time, ...args]);
  };
  const calls = clock === 'store' ? { ...CALLS, ...callsTogether(askAt(undefined)) } : CALLS;
  return jobStoreOver((name, argument, options) => calls[name](askAt(options), argument), subscribe);
}

/** The calls that gather. They all happen at the store's own time, so it does not matter with whom they travel. */
function callsTogether(ask: Ask): Pick<Calls, 'add' | 'settle' | 'heartbeat' | 'claim'> {
  const adds = new Batcher<NewJob, AddResult>((items) => CALLS.add(ask, items), ADD_BATCH);
  const settles = new Batcher<Settlement, SettleResult>((items) => CALLS.settle(ask, items), BATCH);
  const beats = new Batcher<Heartbeat, HeartbeatResult>((items) => CALLS.heartbeat(ask, items), BATCH);
  return {
    add: (_ask, items) => adds.submit(items),
    settle: (_ask, items) => settles.submit(items),
    heartbeat: (_ask, items) => beats.submit(items),
    claim: (_ask, request) => claimAlong(ask, settles, request),
  };
}

/** A list of any length, in slices that one script can take. */
async function inSlices<Item, Answer>(
  items: readonly Item[],
  send: (slice: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const results: Answer[] = [];
  if (items.length === 0) return results;
  for (const slice of slicesOf(items, BATCH.size)) results.push(...(await send(slice)));
  return results;
}

/** Calls that ask about a list of jobs and get one answer for each. */
function overList<Item extends { readonly id: string }, Answer>(
  name: ScriptName,
  write: (items: readonly Item[]) => string[],
  read: (word: string, item: Item) => Answer,
): (ask: Ask, items: readonly Item[]) => Promise<readonly Answer[]> {
  return (ask, items) => inSlices(items, async (slice) => answers.readEach(slice, await ask(name, write(slice)), read));
}

const overIds =
  (name: 'commit' | 'delete') =>
  (ask: Ask, ids: readonly string[]): Promise<CallResult<'commit'>> =>
    overList(
      name,
      (items: readonly { id: string }[]) => requests.idArguments(items.map(({ id }) => id)),
      answers.readTarget,
    )(
      ask,
      ids.map((id) => ({ id })),
    );

const CALLS: Calls = {
  add: (ask, jobs) => inSlices(jobs, async (slice) => answers.readAdded(slice, await ask('add', addArguments(slice)))),
  commit: overIds('commit'),
  delete: overIds('delete'),
  claim,
  heartbeat: overList('heartbeat', requests.heartbeatArguments, answers.readBeat),
  settle: overList('settle', requests.settleArguments, answers.readTarget),
  cancel: overList('cancel', requests.cancelArguments, answers.readCancel),
  requeue: overList('requeue', requests.requeueArguments, answers.readTarget),
  move: overList('move', requests.moveArguments, answers.readTarget),
  change: overList('change', requests.changeArguments, answers.readTarget),
  find: (ask, ids) => inSlices(ids, (slice) => find(ask, slice)),
  history: async (ask, id) => {
    const record = await ask('history', [id]);
    return typeof record === 'string' ? readHistory(record) : [];
  },
  list: (ask, query) => (query.order === 'claim' ? peek(ask, query) : list(ask, query)),
  count: async (ask, queues) => (queues?.length === 0 ? [] : answers.readCounts(await ask('count', queues ?? []))),
  insight,
  keepWorker,
  endWorker: async (ask, { id, kind }) => answers.readEnd(await ask('end-worker', [escapeText(id), kind]), id),
  workers: async (ask) => answers.readWorkers(await ask('workers', [])),
  maintain: async (ask, { limit }) => answers.readMaintenance(await ask('maintain', [String(limit)])),
};

async function find(ask: Ask, ids: readonly string[]): Promise<CallResult<'find'>> {
  const jobs = new Map(readJobs(listOf(await ask('find', ids)), 0).map((job) => [job.id, job]));
  return ids.map((id) => jobs.get(id) ?? null);
}

async function list(ask: Ask, query: JobQuery): Promise<JobPage> {
  const answer = listOf(await ask('list', [requests.queryWords(query)]));
  return { jobs: readJobs(answer, 1), next: answer[0] === undefined || answer[0] === '' ? null : answer[0] };
}

async function peek(ask: Ask, query: JobQuery): Promise<JobPage> {
  const offset = Number(query.after ?? 0);
  const jobs = readJobs(listOf(await ask('peek', [query.queue ?? '', String(offset), String(query.limit)])), 0);
  return { jobs, next: jobs.length < query.limit ? null : String(offset + jobs.length) };
}

async function keepWorker(ask: Ask, beat: WorkerHeartbeat): Promise<CallResult<'keepWorker'>> {
  const { id, host, pid, queues, info, kind, leaseMs } = beat;
  const shown = escapeText(JSON.stringify({ host, pid, queues, info }));
  const word = String(await ask('keep-worker', [escapeText(id), kind, String(leaseMs), shown]));
  return answers.refusalIn(word, `worker ${id}`) ?? { ok: true, until: Number(word) };
}
