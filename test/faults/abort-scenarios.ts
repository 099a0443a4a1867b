/**
 * A call of each changing Lua script, on a store that is prepared so that the call writes much: plain and sorted jobs,
 * unique keys, tags, long texts, failure groups, expired leases.
 */

import type { JobStore } from '../../src/core/ports/job-store.ts';
import { MAX_LOG_ENTRIES } from '../../src/core/statistics/statistics.ts';
import type { WebhookEventName } from '../../src/core/webhooks/webhook.ts';
import { settleArguments } from '../../src/stores/redis/calls/requests.ts';
import type { ScriptAnswer } from '../../src/stores/redis/calls/script-runner.ts';
import type { ScriptName } from '../../src/stores/redis/calls/scripts.ts';
import {
  complete,
  fail,
  LEASE_MS,
  type Outcome,
  release,
  resend,
  retry,
  START,
  type Workbench,
} from '../contract/workbench.ts';
import { LOG_SCENARIOS } from './log-scenarios.ts';
import { migrationScenarios } from './migration-scenarios.ts';

export interface Scenario {
  readonly name: ScriptName;
  /** Distinguishes the scenarios of a script. */
  readonly which?: string;
  prepare(bench: Workbench): Promise<void>;
  /** `run` calls a script that no call of the port uses. */
  call(bench: Workbench, run: (name: ScriptName, args: readonly string[]) => Promise<ScriptAnswer>): Promise<unknown>;
  /** Whether a repeat of the call returns the same answer; otherwise it may report that it was done before. */
  readonly repeatsAnswer: boolean;
  /** Whether the store rejects other changes, so that no other call can repair it. */
  readonly isClosed?: boolean;
  /** Whether the small size, too, aborts before every write: the order of two neighbours is what the scenario is about. */
  readonly abortsBeforeEveryWrite?: boolean;
}

const LONG = JSON.stringify('x'.repeat(5_000));
const DAY_MS = 86_400_000;
const unique = (key: string, until: 'started' | 'ended' = 'ended') =>
  ({ key, scope: 'queue', until, periodMs: 0 }) as const;
const period = { key: 'p', scope: 'store', until: 'period', periodMs: 1_000 } as const;

const JOBS = [
  { id: 'plain-1' },
  { id: 'plain-2' },
  { id: 'plain-3' },
  { id: 'first', priority: -1, tags: ['red', 'blue'], unique: unique('first', 'started') },
  { id: 'last', priority: 5, data: LONG, unique: unique('last') },
  { id: 'soon', delayMs: 1_000, tags: ['red'] },
  { id: 'draft', draft: true, delayMs: 50, unique: unique('draft') },
  { id: 'other', queue: 'other', unique: period },
];

const jobs: Scenario['prepare'] = async (bench) => {
  await bench.setQueue('q', { retries: 3 });
  await bench.add(...JOBS);
  await bench.jobs.cancel([{ id: 'plain-2' }]);
};

/** Running jobs with the names of their outcomes. */
const attempts: Scenario['prepare'] = async (bench) => {
  await bench.setQueue('q', { retries: 1 });
  const ids = ['done', 'next', 'failed', 'final', 'retried', 'resent', 'released', 'crashed', 'forwarded', 'stopped'];
  await bench.add(...ids.map((id) => ({ id, unique: unique(id), tags: [id], data: LONG })));
  await bench.claim();
  await bench.jobs.cancel([{ id: 'stopped' }]);
};

const ended: Scenario['prepare'] = async (bench) => {
  await attempts(bench);
  await bench.jobs.settle(await settlements(bench));
};

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  done: { ...complete, result: LONG, data: '"short"' } as Outcome,
  next: { kind: 'complete', next: { queue: 'other', delayMs: 0 } },
  failed: fail(),
  final: fail({ final: true, failure: { group: 'wrong', message: 'no use', detail: LONG } }),
  retried: retry(1_000),
  resent: resend(),
  released: release,
  crashed: { kind: 'crash', reason: 'gone' },
  forwarded: { kind: 'forward', address: 'there' },
  stopped: complete,
};

async function settlements(bench: Workbench): Promise<Parameters<JobStore['settle']>[0]> {
  const found = await Promise.all(Object.keys(OUTCOMES).map((id) => bench.job(id)));
  return found.map(({ id, lease }) => ({ ...OUTCOMES[id], id, token: lease?.token ?? 1 }) as never);
}

/** Tokens in the order of the claims. */
const tokensOf = (ids: readonly string[]) => ids.map((id, at) => ({ id, token: at + 1 }));
const RUNNING = Object.keys(OUTCOMES);

const settleAll = RUNNING.map((id, at) => ({ ...OUTCOMES[id], id, token: at + 1 }) as never);

/** Plain jobs, which take the fast path. */
const plain: Scenario['prepare'] = async (bench) => {
  const ids = ['p-1', 'p-2', 'p-3', 'p-4', 'p-5'];
  await bench.add(...ids.map((id) => ({ id })), { id: 'o-1', queue: 'other' }, { id: 'o-2', queue: 'other' });
};
const plainAttempts: Scenario['prepare'] = async (bench) => {
  await plain(bench);
  await bench.jobs.claim({ worker: 'w', queues: ['q'], limit: 2, requestId: 'first' });
  await bench.jobs.claim({ worker: 'w', queues: ['other'], limit: 1, requestId: 'second' });
};
const completions = tokensOf(['p-1', 'p-2', 'o-1']).map((held) => ({ ...held, ...complete }) as never);

/** A claim of jobs with different tags appends an entry for each to the log of statistics. */
async function manyEntries(bench: Workbench, count: number): Promise<void> {
  await bench.add(...Array.from({ length: count }, (_, at) => ({ id: `t-${at}`, tags: [`tag-${at}`] })));
  bench.pass(1_000);
  await bench.claim({ limit: count });
}

/** Parents that run, wait and failed, and children with every dependency rule. */
const family: Scenario['prepare'] = async (bench) => {
  const after = (rule: 'hold' | 'fail' | 'run', ...dependsOn: string[]) => ({
    dependsOn,
    policy: { onDependencyFailed: rule },
  });
  await bench.add({ id: 'p-1' }, { id: 'p-2' }, { id: 'p-3' });
  await bench.claim();
  await bench.settle((await bench.job('p-3')) as never, fail());
  await bench.add({ id: 'w-1' }, { id: 'w-2' }, { id: 'plain' });
  await bench.add(
    { id: 'hold', ...after('hold', 'p-1', 'p-2', 'p-3') },
    { id: 'run', ...after('run', 'p-1', 'p-2', 'w-1') },
    { id: 'one', ...after('hold', 'p-1') },
    { id: 'fail', ...after('fail', 'p-2', 'w-2'), unique: unique('fail') },
    { id: 'below', ...after('fail', 'fail'), draft: true },
    { id: 'along', ...after('hold', 'w-1') },
  );
};

/** Jobs with webhooks of their own and of their queue; one of them has a pending call. */
const hooked: Scenario['prepare'] = async (bench) => {
  const hook = (url: string, ...on: WebhookEventName[]) => ({ url, on });
  await bench.setQueue('q', { hooks: [hook('https://queue/', 'done', 'failed', 'cancelled')] });
  const hooks = [hook('https://job/', 'start', 'done', 'progress')];
  await bench.add({ id: 'h-1', policy: { hooks } }, { id: 'h-2' }, { id: 'h-3', policy: { hooks } });
  await bench.claim({ limit: 2 });
  await bench.add({ id: 'below', dependsOn: ['h-2'], policy: { onDependencyFailed: 'fail' } });
};

const nothing: Scenario['prepare'] = async () => undefined;

export const SCENARIOS: readonly Scenario[] = [
  { name: 'add', prepare: nothing, call: (bench) => bench.add(...JOBS), repeatsAnswer: false },
  {
    name: 'add',
    which: 'plain jobs',
    prepare: plain,
    // More than one piece of the insertion index holds.
    call: (bench) => bench.add(...Array.from({ length: 66 }, (_, at) => ({ id: `n-${at}` }))),
    repeatsAnswer: false,
  },
  {
    name: 'add',
    which: 'jobs that wait for others',
    prepare: family,
    call: (bench) =>
      bench.add(
        { id: 'n-1' },
        { id: 'n-2', dependsOn: ['n-1', 'p-1', 'plain'] },
        { id: 'n-3', dependsOn: ['n-2'], draft: true },
        { id: 'n-4', dependsOn: ['n-3', 'p-3'], policy: { onDependencyFailed: 'fail' } },
      ),
    repeatsAnswer: false,
  },
  {
    name: 'aggregate-statistics',
    prepare: (bench) => manyEntries(bench, MAX_LOG_ENTRIES + 1),
    call: (_bench, run) => run('aggregate-statistics', []),
    repeatsAnswer: true,
    abortsBeforeEveryWrite: true,
  },
  {
    name: 'maintain',
    which: 'pending log entries',
    prepare: (bench) => manyEntries(bench, 3),
    call: (bench) => bench.jobs.maintain({ limit: 100 }),
    repeatsAnswer: true,
  },
  {
    name: 'settle',
    which: 'parents of others',
    prepare: family,
    call: (bench) =>
      bench.jobs.settle([{ id: 'p-1', token: 1, ...complete } as never, { id: 'p-2', token: 2, ...fail() } as never]),
    repeatsAnswer: true,
  },
  {
    name: 'settle',
    which: 'a job that advances and waits for others',
    prepare: family,
    call: (bench) =>
      bench.jobs.settle([
        { id: 'p-1', token: 1, kind: 'complete', next: { queue: 'other', delayMs: 0, dependsOn: ['plain', 'p-2'] } },
      ]),
    repeatsAnswer: true,
  },
  {
    name: 'cancel',
    which: 'parents of others',
    prepare: family,
    call: (bench) =>
      bench.jobs.cancel([
        { id: 'w-1', dependents: 'cancel' },
        { id: 'w-2', dependents: 'leave' },
        { id: 'p-1', dependents: 'cancel' },
      ]),
    repeatsAnswer: true,
  },
  {
    name: 'settle',
    which: 'jobs with webhooks',
    prepare: hooked,
    call: (bench) =>
      bench.jobs.settle([{ id: 'h-1', token: 1, ...complete } as never, { id: 'h-2', token: 2, ...fail() } as never]),
    repeatsAnswer: true,
  },
  {
    name: 'claim',
    which: 'a job with webhooks',
    prepare: hooked,
    call: (bench) => bench.jobs.claim({ worker: 'w', queues: ['q'], limit: 5, requestId: 'the-same' }),
    repeatsAnswer: true,
  },
  {
    name: 'heartbeat',
    which: 'of a job with webhooks',
    prepare: hooked,
    call: (bench) => bench.jobs.heartbeat([{ id: 'h-1', token: 1, progress: { percent: 60, text: null } }]),
    repeatsAnswer: true,
  },
  {
    name: 'requeue',
    which: 'a parent of others',
    prepare: family,
    call: (bench) => bench.jobs.requeue([{ id: 'p-3' }]),
    repeatsAnswer: true,
  },
  {
    name: 'change',
    which: 'dependencies of jobs',
    prepare: family,
    call: (bench) =>
      bench.jobs.change([
        { id: 'one', dependsOn: { add: ['w-2', 'plain'], remove: ['p-1'] } },
        { id: 'along', dependsOn: { remove: ['w-1'] } },
        { id: 'plain', dependsOn: { add: ['w-2'] } },
      ]),
    repeatsAnswer: true,
  },
  {
    name: 'delete',
    which: 'parents and children',
    prepare: family,
    call: (bench) => bench.jobs.delete(['p-3', 'w-1', 'below', 'run', 'w-2']),
    repeatsAnswer: false,
  },
  {
    name: 'commit',
    prepare: jobs,
    call: (bench) => bench.jobs.commit(['draft']),
    repeatsAnswer: true,
  },
  {
    name: 'claim',
    prepare: async (bench) => {
      await bench.add({ id: 'lost' });
      await bench.claim({ leaseMs: 500 });
      await jobs(bench);
      bench.pass(1_500);
    },
    call: (bench) => bench.jobs.claim({ worker: 'w', queues: ['q', 'other'], limit: 20, requestId: 'the-same' }),
    repeatsAnswer: true,
  },
  {
    name: 'heartbeat',
    prepare: attempts,
    call: (bench) =>
      bench.jobs.heartbeat(
        tokensOf(RUNNING.slice(0, 3)).map((held) => ({
          ...held,
          started: { pid: 7 },
          progress: { percent: 50, text: 'half' },
          checkpoint: LONG,
          data: '{}',
        })),
      ),
    repeatsAnswer: true,
  },
  {
    name: 'heartbeat',
    which: 'after a backward clock step',
    prepare: async (bench) => {
      await attempts(bench);
      bench.now = START - 3_600_000;
    },
    call: (bench) => bench.jobs.heartbeat(tokensOf(RUNNING.slice(0, 1))),
    repeatsAnswer: true,
  },
  {
    name: 'maintain',
    which: 'after a backward clock step, with waiting jobs',
    prepare: async (bench) => {
      await attempts(bench);
      await jobs(bench);
      await bench.setQueue('q', { rate: { count: 1, ms: 1_000 } });
      await bench.claim({ limit: 1 });
      bench.now = START - 3_600_000;
    },
    call: (bench) => bench.jobs.maintain({ limit: 0 }),
    repeatsAnswer: true,
  },
  { name: 'settle', prepare: attempts, call: (bench) => bench.jobs.settle(settleAll), repeatsAnswer: true },
  {
    name: 'settle',
    which: 'too late',
    prepare: async (bench) => {
      await attempts(bench);
      await bench.loseLeases();
    },
    call: (bench) => bench.jobs.settle(settleAll),
    repeatsAnswer: true,
  },
  {
    name: 'settle-claim',
    prepare: async (bench) => {
      await attempts(bench);
      await jobs(bench);
    },
    call: (_bench, run) => {
      const args = settleArguments(settleAll.slice(0, 1));
      return run('settle-claim', [String(args.length), ...args, 'w', 'the-same', '3', '', 'q']);
    },
    repeatsAnswer: false,
  },
  {
    name: 'claim',
    which: 'plain jobs alone',
    prepare: plain,
    call: (bench) => bench.jobs.claim({ worker: 'w', queues: ['q', 'other'], limit: 20, requestId: 'the-same' }),
    repeatsAnswer: true,
  },
  {
    name: 'settle',
    which: 'plain jobs alone',
    prepare: plainAttempts,
    call: (bench) => bench.jobs.settle(completions),
    repeatsAnswer: true,
  },
  {
    name: 'settle-claim',
    which: 'plain jobs alone',
    prepare: plainAttempts,
    call: (_bench, run) => {
      const args = settleArguments(completions);
      return run('settle-claim', [String(args.length), ...args, 'w', 'the-same', '3', '', 'q', 'other']);
    },
    repeatsAnswer: false,
  },
  {
    name: 'settle-claim',
    which: 'plain jobs of one queue',
    prepare: plainAttempts,
    call: (_bench, run) => {
      const args = settleArguments(completions.slice(0, 2));
      return run('settle-claim', [String(args.length), ...args, 'w', 'the-same', '3', '', 'q']);
    },
    repeatsAnswer: false,
    abortsBeforeEveryWrite: true,
  },
  {
    name: 'cancel',
    prepare: async (bench) => {
      await attempts(bench);
      await jobs(bench);
    },
    call: (bench) => bench.jobs.cancel(['plain-1', 'first', 'last', 'soon', 'draft', 'done'].map((id) => ({ id }))),
    repeatsAnswer: true,
  },
  {
    name: 'requeue',
    prepare: ended,
    call: (bench) =>
      bench.jobs.requeue([
        { id: 'done' },
        { id: 'final', queue: 'other' },
        { id: 'forwarded' },
        { id: 'stopped', delayMs: 5 },
      ]),
    repeatsAnswer: true,
  },
  {
    name: 'move',
    prepare: async (bench) => {
      await attempts(bench);
      await jobs(bench);
    },
    call: (bench) =>
      bench.jobs.move(
        ['plain-1', 'first', 'last', 'soon', 'draft', 'done'].map((id) => ({ id, queue: 'elsewhere', steal: true })),
      ),
    repeatsAnswer: true,
  },
  {
    name: 'change',
    prepare: jobs,
    call: (bench) =>
      bench.jobs.change([
        { id: 'plain-1', priority: 3, tags: ['new'] },
        { id: 'first', tags: ['blue', 'green'], data: LONG },
        { id: 'last', data: '1', runAt: START + 9 },
        { id: 'soon', tags: [], name: 'named' },
      ]),
    repeatsAnswer: true,
  },
  {
    name: 'delete',
    prepare: async (bench) => {
      await ended(bench);
      await jobs(bench);
    },
    call: (bench) => bench.jobs.delete(['plain-1', 'first', 'last', 'draft', 'other', 'done', 'final', 'forwarded']),
    repeatsAnswer: false,
  },
  {
    name: 'keep-worker',
    prepare: nothing,
    call: (bench) =>
      bench.jobs.keepWorker({
        id: 'w',
        host: 'h',
        pid: 1,
        queues: ['q'],
        leaseMs: 1_000,
        info: '{}',
        kind: 'register',
      }),
    repeatsAnswer: true,
  },
  {
    name: 'end-worker',
    prepare: async (bench) => {
      await attempts(bench);
      const beat = { id: 'w', host: 'h', pid: 1, queues: ['q'], leaseMs: 1_000, info: '{}', kind: 'register' } as const;
      await bench.jobs.keepWorker(beat);
    },
    call: (bench) => bench.jobs.endWorker({ id: 'w', kind: 'fail' }),
    repeatsAnswer: false,
  },
  {
    name: 'maintain',
    prepare: async (bench) => {
      await ended(bench);
      await jobs(bench);
      await bench.jobs.keepWorker({
        id: 'w',
        host: 'h',
        pid: 1,
        queues: ['q'],
        leaseMs: 1_000,
        info: '{}',
        kind: 'register',
      });
      await bench.records.put({ kind: 'note', key: 'old', value: '1', expiresAt: START + 1 });
      await bench.jobs.cancel([{ id: 'plain-1' }]);
      await bench.add({ id: 'held' });
      await bench.claim({ limit: 1, leaseMs: LEASE_MS });
      bench.pass(31 * DAY_MS);
      await bench.jobs.keepWorker({
        id: 'x',
        host: 'h',
        pid: 1,
        queues: ['q'],
        leaseMs: 1_000,
        info: '{}',
        kind: 'register',
      });
      bench.pass(LEASE_MS);
    },
    call: (bench) => bench.jobs.maintain({ limit: 1_000 }),
    repeatsAnswer: false,
  },
  {
    name: 'records-put',
    prepare: async (bench) => {
      await bench.records.put({ kind: 'note', key: 'a', value: '1', expiresAt: START + 5 });
    },
    call: (bench) => bench.records.put({ kind: 'note', key: 'a', value: '2' }),
    repeatsAnswer: false,
  },
  {
    name: 'records-delete',
    prepare: async (bench) => {
      await bench.records.put({ kind: 'queue', key: 'q', value: '{}', expiresAt: START + 5 });
    },
    call: (bench) => bench.records.delete('queue', 'q'),
    repeatsAnswer: true,
  },
  ...LOG_SCENARIOS,
  ...migrationScenarios(async (bench) => {
    await jobs(bench);
    await bench.add({ id: 'child', dependsOn: ['plain-1', 'last'] }, { id: 'broken', priority: -9 });
    const [broken] = await bench.claim({ limit: 1 });
    if (broken !== undefined) await bench.settle(broken, fail({ final: true }));
  }),
];
