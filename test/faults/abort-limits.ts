/** Calls of the Lua scripts with limits: jobs that are parked without a slot, unparked, and coalesced. */
import { THROTTLE_RECORD } from '../../src/core/limits/throttle.ts';
import { complete, fail, type Workbench } from '../contract/workbench.ts';
import type { Scenario } from './abort-scenarios.ts';

const setMax = (bench: Workbench, max: number) =>
  bench.records.put({ kind: THROTTLE_RECORD, key: 'db', value: JSON.stringify({ max }) });
const claimAll = (bench: Workbench) =>
  bench.jobs.claim({ worker: 'w', queues: ['q'], limit: 20, requestId: 'the-same' });

/** More jobs than slots; with keys, which take turns. */
const limited: Scenario['prepare'] = async (bench) => {
  await bench.setQueue('q', { keys: { by: ['tenant'], limit: 1 }, throttles: ['db'] });
  await setMax(bench, 2);
  const jobs = ['a-1', 'a-2', 'b-1', 'b-2', 'c-1'];
  await bench.add(...jobs.map((id) => ({ id, data: JSON.stringify({ tenant: id.charAt(0) }) })));
};
const parked: Scenario['prepare'] = async (bench) => {
  await limited(bench);
  await bench.claim();
};

/** More jobs than the rate of a throttle lets start, and one that is parked. */
const rated: Scenario['prepare'] = async (bench) => {
  await bench.setQueue('q', { throttles: ['api'] });
  const value = JSON.stringify({ rate: { count: 2, ms: 60_000 }, by: ['site'] });
  await bench.records.put({ kind: THROTTLE_RECORD, key: 'api', value });
  await bench.add(...['s-1', 's-2', 's-3', 's-4'].map((id) => ({ id, data: '{"site":1}' })));
  await bench.claim({ limit: 1 });
};

/** Jobs that need more than the free capacity of the first worker. */
const needing: Scenario['prepare'] = async (bench) => {
  const needs = ['cpu=4', 'cpu=1', 'cpu=4', 'cpu=2,gpu=1', 'cpu=1'];
  await bench.add(...needs.map((each, place) => ({ id: `n-${place}`, policy: { needs: each } })));
};
const parkedForNeeds: Scenario['prepare'] = async (bench) => {
  await needing(bench);
  await bench.claim({ offers: { whole: 'cpu=1', free: 'cpu=1' } });
};
const claimWith = (free: string) => (bench: Workbench) =>
  bench.jobs.claim({
    worker: 'w',
    queues: ['q'],
    limit: 20,
    requestId: 'the-same',
    offers: { whole: 'cpu=8,gpu=1', free },
  });

const LONG = JSON.stringify('x'.repeat(5_000));
const started = { key: 'k', scope: 'queue', until: 'started', periodMs: 0 } as const;
const equals: Scenario['prepare'] = async (bench) => {
  await bench.setQueue('q', { coalesce: { by: ['site'] }, retries: 3 });
  const data = '{"site":1}';
  await bench.add({ id: 'e-1', data }, { id: 'e-2', data, tags: ['red'] }, { id: 'e-3', data, unique: started });
  await bench.add({ id: 'e-4', data, priority: 3 }, { id: 'child', queue: 'other', dependsOn: ['e-2'] });
};
const coalesced: Scenario['prepare'] = async (bench) => {
  await equals(bench);
  await bench.claim();
};
const leader = { id: 'e-1', token: 1 };

const SCENARIOS: readonly (Omit<Scenario, 'repeatsAnswer'> & { readonly repeatsAnswer?: boolean })[] = [
  { name: 'claim', which: 'jobs that find no slot', prepare: limited, call: claimAll },
  {
    name: 'claim',
    which: 'jobs that the rate of a throttle holds back',
    prepare: rated,
    call: claimAll,
    abortsBeforeEveryWrite: true,
  },
  { name: 'claim', which: 'jobs that need more than the free capacity', prepare: needing, call: claimWith('cpu=3') },
  { name: 'claim', which: 'jobs that did not fit before', prepare: parkedForNeeds, call: claimWith('cpu=6,gpu=1') },
  {
    name: 'delete',
    which: 'the last job that does not fit',
    prepare: parkedForNeeds,
    call: (bench) => bench.jobs.delete(['n-0', 'n-2', 'n-3']),
    repeatsAnswer: false,
  },
  {
    name: 'settle',
    which: 'a job whose slot others wait for',
    prepare: parked,
    call: (bench) => bench.jobs.settle([{ id: 'a-1', token: 1, ...complete } as never]),
  },
  {
    name: 'records-put',
    which: 'more slots',
    prepare: parked,
    call: (bench) => setMax(bench, 5),
    repeatsAnswer: false,
  },
  {
    name: 'claim',
    which: 'a job with equal ones',
    prepare: equals,
    call: (bench) => bench.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 'the-same' }),
  },
  {
    name: 'settle',
    which: 'the leader of coalesced jobs',
    prepare: coalesced,
    call: (bench) => bench.jobs.settle([{ ...leader, kind: 'complete', result: LONG }]),
  },
  {
    name: 'settle',
    which: 'a leader that fails, so that its coalesced jobs return',
    prepare: coalesced,
    call: (bench) => bench.jobs.settle([{ ...leader, ...fail({ final: true }) } as never]),
  },
  {
    name: 'delete',
    which: 'coalesced jobs',
    prepare: coalesced,
    call: (bench) => bench.jobs.delete(['e-3', 'e-4']),
    repeatsAnswer: false,
  },
];

export const LIMIT_SCENARIOS: readonly Scenario[] = SCENARIOS.map((scenario) => ({ repeatsAnswer: true, ...scenario }));
