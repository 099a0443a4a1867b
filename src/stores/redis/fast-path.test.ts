/** The fast path (lua/lib/fastpath) answers and writes what the general path would: every answer and every key is compared. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import type { Job } from '../../core/job/job.ts';
import type { ThrottleSettings } from '../../core/limits/bucket.ts';
import type { Heartbeat, NewJob, Settlement, StepWrite } from '../../core/ports/job-store.ts';
import { addArguments } from './calls/add-request.ts';
import { heartbeatArguments, settleArguments } from './calls/requests.ts';
import { DECLINED, fastScriptOf, LOG_IS_LONG, type ScriptName, scriptText } from './calls/scripts.ts';
import { stepArguments } from './calls/step-operations.ts';
import { readEvents } from './client/events.ts';
import { readHistory } from './encoding/job-history.ts';
import { fieldsOf, readJobs } from './encoding/job-record.ts';
import { FIELD, PART } from './encoding/layout.ts';

const START = 1_750_000_000_000;
const STEPS = 160;
const PATHS = ['general', 'fast'] as const;
type Path = (typeof PATHS)[number];
type Roll = (sides: number) => number;

/** A kind of work: jobs that are added, settlements and heartbeats of those that run. */
interface Kind {
  readonly title: string;
  /** The least share of all calls that takes the fast path. */
  readonly share: number;
  readonly job?: (roll: Roll) => Partial<NewJob>;
  readonly settlement?: (held: { id: string; token: number }, roll: Roll) => Settlement | undefined;
  readonly heartbeat?: (roll: Roll) => Omit<Heartbeat, 'id' | 'token'>;
  readonly step?: (roll: Roll) => Omit<StepWrite, 'id' | 'token'>;
  /** The settings of every throttle. */
  readonly throttle?: ThrottleSettings;
  /** The free capacity of the worker. */
  readonly free?: (roll: Roll) => string;
  readonly isErratic?: true;
  /** How many calls plain-jobs.lua decides at least, by a clock that is guarded. */
  readonly plain?: number;
}

const failure = (roll: Roll) => ({
  group: ['boom', 'bang'][roll(2)] ?? '',
  message: ['no', '', 'a\x1fb'][roll(3)] ?? '',
  detail: roll(2) === 0 ? null : 'at line 1',
});
const withTags = (roll: Roll): Partial<NewJob> => ({ tags: ['red', 'green', 'red'].slice(0, roll(4)) });
const withPriority = (roll: Roll): Partial<NewJob> => ({ priority: roll(5) - 2 });
const withDelay = (roll: Roll): Partial<NewJob> =>
  roll(4) === 0 ? { runAt: START + roll(STEPS * 400) } : { delayMs: [0, 1, 300, 700, 20_000][roll(5)] ?? 0 };
const oftenFailing: NonNullable<Kind['settlement']> = (held, roll) =>
  roll(3) === 0
    ? undefined
    : {
        ...held,
        kind: roll(2) === 0 ? 'fail' : 'retry',
        failure: failure(roll),
        delayMs: [0, 0, 1, 900][roll(4)] ?? 0,
      };
const progress: NonNullable<Kind['heartbeat']> = (roll) => ({
  ...(roll(2) === 0 && { leaseMs: 60_000 + roll(100) }),
  ...(roll(4) === 0 && { started: { pid: roll(2) === 0 ? null : 7 } }),
  ...(roll(4) > 0 && { progress: { percent: roll(3) === 0 ? null : roll(101), text: roll(2) === 0 ? null : 'on it' } }),
  ...(roll(4) === 0 && { checkpoint: `"${roll(9)}"` }),
});
const retries = { policy: { retries: 50 } };
const aStep: NonNullable<Kind['step']> = (roll) => ({ kind: 'run', name: `s${roll(3)}`, status: 'done', result: '1' });
const oftenSuspended: NonNullable<Kind['settlement']> = (held, roll) =>
  roll(3) === 0
    ? { ...held, kind: 'suspend', until: roll(2) === 0 ? START + roll(STEPS * 200) : null, event: null, children: null }
    : oftenFailing(held, roll);
const withTrace = (roll: Roll): Partial<NewJob> => ({
  policy: { traceparent: `00-${'ab'.repeat(16)}-${String(1 + roll(1_000)).padStart(16, '0')}-01` },
});
const withThrottles = (roll: Roll): Partial<NewJob> => ({
  policy: { retries: 50, throttles: ['a', 'b', 'a'].slice(0, 1 + roll(3)) },
});
const withUniqueKey = (roll: Roll): Partial<NewJob> => ({
  ...retries,
  unique: {
    key: roll(4) === 0 ? `shared-${roll(3)}` : `key-${roll(1_000_000)}`,
    scope: roll(4) === 0 ? 'queue' : 'store',
    until: (['started', 'ended', 'period'] as const)[roll(3)] ?? 'ended',
    periodMs: 1_000 + roll(20_000),
  },
});
const withResources = (roll: Roll): Partial<NewJob> => ({
  policy: { retries: 50, needs: ['cpu=1', 'cpu=2,gpu=1', 'gpu=1'][roll(3)] ?? '' },
});
/** Throttles, keys and resources, beside a priority, tags or a delay. */
const withLimits = (roll: Roll): Partial<NewJob> => ({
  ...[withPriority, withTags, withDelay, () => ({})][roll(4)]?.(roll),
  ...[withThrottles, withUniqueKey, withResources][roll(3)]?.(roll),
});
const seldomFailing: NonNullable<Kind['settlement']> = (held, roll) =>
  roll(6) === 0 ? { ...held, kind: 'fail', failure: failure(roll), delayMs: 500 + roll(500) } : undefined;
const oftenPausing: NonNullable<Kind['settlement']> = (held, roll) =>
  roll(5) === 0
    ? { ...held, kind: 'retry', failure: failure(roll), delayMs: 300 + roll(900), throttle: ['a', 'b'][roll(2)] ?? '' }
    : undefined;

const seldomStale: NonNullable<Kind['settlement']> = (held, roll) =>
  roll(8) === 0 ? { ...held, token: held.token - 1, kind: 'complete' } : undefined;

const KINDS: readonly Kind[] = [
  { title: 'plain jobs', share: 0.9, plain: 20 },
  { title: 'plain jobs, some with a stale token', share: 0.7, settlement: seldomStale, plain: 5 },
  { title: 'jobs with a priority', share: 0.9, job: withPriority },
  { title: 'jobs with tags', share: 0.9, job: withTags, plain: 1 },
  { title: 'jobs with a delay', share: 0.9, job: withDelay },
  { title: 'jobs with a trace context', share: 0.9, job: withTrace, plain: 20 },
  { title: 'jobs that fail with a retry', share: 0.9, job: () => retries, settlement: oftenFailing },
  {
    title: 'jobs that fail until no retry is left',
    share: 0.5,
    job: () => ({ policy: { retries: 1 } }),
    settlement: oftenFailing,
  },
  { title: 'jobs with progress', share: 0.9, heartbeat: progress },
  {
    title: 'ordinary jobs of all kinds',
    share: 0.9,
    job: (roll) => ({ ...[withPriority, withTags, withDelay, () => ({})][roll(4)]?.(roll), ...retries }),
    settlement: oftenFailing,
    heartbeat: progress,
  },
  { title: 'jobs with throttles', share: 0.8, job: withThrottles, settlement: seldomFailing, throttle: { max: 100 } },
  {
    title: 'jobs with throttles that fill up',
    share: 0.3,
    job: withThrottles,
    settlement: oftenFailing,
    throttle: { max: 3 },
  },
  {
    title: 'jobs with throttles that have a rate by key and a cost',
    share: 0.3,
    job: (roll) => (roll(3) === 0 ? withThrottles(roll) : retries),
    settlement: seldomFailing,
    throttle: { max: 20, rate: { count: 9, ms: 2_000 }, by: ['n'], cost: 'n' },
  },
  {
    title: 'jobs with throttles that are paused now and then',
    share: 0.3,
    job: (roll) => (roll(4) === 0 ? withThrottles(roll) : retries),
    settlement: oftenPausing,
    throttle: { max: 100 },
  },
  { title: 'jobs with a unique key', share: 0.7, job: withUniqueKey, settlement: oftenFailing },
  {
    title: 'jobs with resources',
    share: 0.9,
    job: withResources,
    settlement: oftenFailing,
    free: () => 'cpu=99,gpu=99',
  },
  {
    title: 'jobs with resources that are used up',
    share: 0.3,
    job: withResources,
    free: (roll) => `cpu=${roll(12)},gpu=${roll(9)}`,
  },
  {
    title: 'jobs with limits of all kinds',
    share: 0.6,
    job: withLimits,
    settlement: seldomFailing,
    heartbeat: progress,
    throttle: { max: 20 },
    free: () => 'cpu=99,gpu=99',
  },
  {
    title: 'jobs with steps that are suspended',
    share: 0.2,
    job: () => retries,
    settlement: oftenSuspended,
    step: aStep,
  },
  {
    title: 'ordinary jobs among others',
    share: 0.3,
    job: anyJob,
    settlement: anySettlement,
    heartbeat: progress,
    isErratic: true,
  },
];

/** The same sequence of numbers for the same seed. */
function dice(seed: number): Roll {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** The script without its fast path, or with a count of how often that was enough. It keeps the events that it publishes. */
function textOf(path: Path, name: ScriptName): string {
  const text = scriptText(name).replaceAll(`'PUBLISH',P..`, `'RPUSH',P..'published-'..`);
  if (path === 'general') return text.replace(/local answer=fast\w+\.\w+\(\)/, 'local answer=nil ');
  return text
    .replace('if answer then return answer', `if answer then redis.call('INCR', 'taken')return answer`)
    .replace('if answer then return isLong', `if answer then redis.call('INCR', 'plain')return isLong`);
}

describeWithRedis('the fast path', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  const hashes = new Map<string, string>();
  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url, RESP: 2 });
    await client.connect();
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  async function send(path: Path, name: ScriptName, args: readonly string[]): Promise<unknown> {
    const key = `${path} ${name}`;
    const sha = hashes.get(key) ?? (await client.scriptLoad(textOf(path, name)));
    hashes.set(key, sha);
    const answer: unknown = await client.sendCommand(['EVALSHA', sha, '1', `{${path}}`, ...args]);
    return Array.isArray(answer) && answer[0] === LOG_IS_LONG ? answer[1] : answer;
  }

  /** Sends the general script, or the fast one first. */
  async function run(path: Path, name: ScriptName, args: readonly string[]): Promise<string[]> {
    const fast = path === 'fast' ? fastScriptOf(name) : undefined;
    let answer = fast === undefined ? DECLINED : await send(path, fast, args);
    if (answer === DECLINED) answer = await send(path, name, args);
    else await client.incr('taken');
    return Array.isArray(answer) ? (answer as string[]) : [String(answer)];
  }

  /** Runs a call both ways, and returns the answer after it was compared. */
  async function both(step: string, name: ScriptName, args: readonly string[]): Promise<unknown[]> {
    const [general = [], fast = []] = await Promise.all(PATHS.map((path) => run(path, name, args)));
    expect(meaning(fast, name), `${step}, ${name}`).toEqual(meaning(general, name));
    return meaning(general, name);
  }

  /** Entries of the log of statistics are added to the cells before, since the paths may do so at different calls. */
  async function compareKeys(step: string, time: string): Promise<void> {
    await both(step, 'maintain', [time, '0']);
    expect({ step, keys: await everything('fast') }).toEqual({ step, keys: await everything('general') });
  }

  /** Every key of a namespace; records by their fields, which have no order. */
  async function everything(path: Path): Promise<unknown> {
    const keys = ((await client.sendCommand(['KEYS', `{${path}}*`])) as unknown as string[]).sort();
    const found = await Promise.all(
      keys.filter((key) => !key.endsWith('}j')).map(async (key) => [key.slice(path.length + 2), await contents(key)]),
    );
    const all = (await client.sendCommand(['HGETALL', `{${path}}j`])) as unknown as string[];
    const records = all.flatMap((id, at) => (at % 2 === 0 ? [[id, all[at + 1] ?? ''] as const] : []));
    records.sort(([a], [b]) => (a < b ? -1 : 1));
    const read = records.map(([id, text]) =>
      /^[!@#$%+]/.test(id) ? [id, text] : [id, text.slice(0, text.indexOf(FIELD)), fieldsOf(text), readHistory(text)],
    );
    return [found, read];
  }

  async function contents(key: string): Promise<unknown> {
    const ask = (...args: string[]) => client.sendCommand(args) as Promise<unknown>;
    const type = String(await ask('TYPE', key));
    if (key.includes('published-')) return readEvents(((await ask('LRANGE', key, '0', '-1')) as string[]).join(PART));
    if (type === 'list') return await ask('LRANGE', key, '0', '-1');
    if (type === 'zset') return await ask('ZRANGE', key, '0', '-1', 'WITHSCORES');
    const pairs = (await ask('HGETALL', key)) as string[];
    return pairs.flatMap((field, at) => (at % 2 === 0 ? [`${field}=${pairs[at + 1]}`] : [])).sort();
  }

  it('is equal to the general path for two jobs of one call that want the same unique key', async () => {
    await client.flushAll();
    const roll = dice(11);
    const unique = { key: 'one', scope: 'store', until: 'ended', periodMs: 0 } as const;
    // Jobs with the same settings are sent together; these are not.
    const jobs = [aJob('first', roll), { ...aJob('second', roll), priority: 1 }].map((job) => ({ ...job, unique }));
    // The fast path declines a queue that it does not know.
    for (const added of [[aJob('before', roll)], jobs])
      await both('two jobs', 'add', [`caller ${START}`, ...addArguments(added)]);
    await compareKeys('two jobs', `caller ${START}`);
  });

  const cases = KINDS.flatMap((kind) => (['guarded', 'caller'] as const).map((clock) => ({ ...kind, clock })));

  it.each(cases)('is equal to the general path for $title, by a clock that is $clock', async (kind) => {
    await client.flushAll();
    const roll = dice(11);
    let [running, now, calls]: [readonly Job[], number, number] = [[], START, 0];
    const call = async (step: number, name: ScriptName, args: readonly string[]) => {
      calls += 1;
      return await both(`step ${step}`, name, [`${kind.clock} ${now}`, ...args]);
    };
    for (const name of kind.throttle === undefined ? [] : ['a', 'b'])
      await call(0, 'records-put', ['throttle', name, JSON.stringify(kind.throttle), '', '']);
    for (let step = 0; step < STEPS; step += 1) {
      now += kind.isErratic && roll(50) === 0 ? -100 : roll(400);
      const added = Array.from({ length: roll(6) }, (_, at) => ({
        ...aJob(`job-${step}-${at}`, roll),
        ...kind.job?.(roll),
      }));
      if (added.length > 0) await call(step, 'add', addArguments(added));
      const beats = running.filter(() => kind.heartbeat !== undefined && roll(3) === 0);
      const heartbeats = beats.map(({ id, lease }) => ({ id, token: lease?.token ?? 0, ...kind.heartbeat?.(roll) }));
      if (heartbeats.length > 0) await call(step, 'heartbeat', heartbeatArguments(heartbeats));
      const steps = running.flatMap(({ id, lease }) =>
        kind.step !== undefined && roll(6) === 0 ? [{ id, token: lease?.token ?? 0, ...kind.step(roll) }] : [],
      );
      if (steps.length > 0) await call(step, 'keep-steps', stepArguments(steps));
      const settled = running.slice(0, roll(6));
      const outcomes = settleArguments(settled.map((job) => settlementOf(job, kind, roll)));
      const request = [
        'w',
        `request-${kind.isErratic && roll(20) === 0 ? step - 1 : step}`,
        String(1 + roll(6)),
        kind.free === undefined ? '' : ` cpu=99,gpu=99 ${kind.free(roll)}`,
        'q',
        ...(roll(2) === 0 ? ['other'] : []),
      ];
      const next = someCall(roll, outcomes, request);
      const answer = await call(step, next.name, next.args);
      if (next.name !== 'claim') running = running.slice(settled.length);
      if (next.name !== 'settle') running = [...running, ...(answer.at(-1) as Job[])];
      if (step % 20 === 0 || step === STEPS - 1) await compareKeys(`step ${step}`, `${kind.clock} ${now}`);
    }
    const taken = Number(await client.get('taken'));
    expect(taken / calls).toBeGreaterThan(kind.share);
    if (kind.isErratic) expect(taken).toBeLessThan(calls);
    if (kind.clock === 'guarded') expect(Number(await client.get('plain'))).toBeGreaterThanOrEqual(kind.plain ?? 0);
  });

  it.each([
    { title: 'nothing else' },
    { title: 'a repeated request', requestId: 'two' },
    { title: 'a repeat of the request before', requestId: 'one' },
    { title: 'a stale token', token: 2 },
    { title: 'an expired lease of another worker', passMs: 1_500 },
    { title: 'a paused queue', settings: { state: 'paused' } },
    { title: 'a limited queue', settings: { maxRunning: 1 } },
  ])('is equal to the general path for a plain call and $title', async (each) => {
    const { requestId = 'three', token = 3, passMs = 10, settings = {} } = each;
    await client.flushAll();
    let now = START;
    const call = (name: ScriptName, args: readonly string[]) => both(`at ${now}`, name, [`guarded ${now}`, ...args]);
    await call('add', addArguments(['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, queue: 'q', data: '{}' }))));
    await call('claim', ['v', 'other', '1', '1000', 'q']);
    await call('claim', ['w', 'one', '1', '', 'q']);
    await call('claim', ['w', 'two', '1', '', 'q']);
    await call('records-put', ['queue', 'q', JSON.stringify(settings), '', '']);
    now += passMs;
    const complete = settleArguments([{ id: 'c', token, kind: 'complete' }]);
    await call('settle-claim', [String(complete.length), ...complete, 'w', requestId, '1', '', 'q']);
    await compareKeys('at the end', `guarded ${now}`);
  });

  it('decides claims of plain jobs in one function, with jobs and without', async () => {
    await client.flushAll();
    const claim = async (now: number, requestId: string) => {
      await both(requestId, 'claim', [`guarded ${now}`, 'w', requestId, '2', '', 'q']);
      const times = PATHS.map((path) => client.hGet(`{${path}}`, 'seen'));
      expect({ requestId, times: await Promise.all(times) }).toEqual({ requestId, times: [String(now), String(now)] });
    };
    const jobs = ['a', 'b', 'c', 'd'].map((id) => ({ id, queue: 'q', data: '{}' }));
    await both('plain claims', 'add', [`guarded ${START}`, ...addArguments(jobs)]);
    // The first claim of a worker takes the general path.
    for (const [at, requestId] of ['first', 'second', 'third'].entries()) await claim(START + 10 * at, requestId);
    expect(Number(await client.get('plain'))).toBe(2);
    await compareKeys('plain claims', `guarded ${START + 20}`);
  });

  const hook = { url: 'http://127.0.0.1:9/', on: ['start', 'done', 'progress'] };

  it.each([
    { priority: 5 },
    { priority: 0, retries: 2 },
    { state: 'down' },
    { state: 'deleted' },
    { state: 'paused' },
    { onLost: 'hold' },
    { keys: { by: ['n'], limit: 1 } },
    { coalesce: { by: ['n'] } },
    { maxRunning: 1 },
    { rate: { count: 1, ms: 60_000 } },
    { throttles: ['t'] },
    { needs: 'cpu=1' },
    { hooks: [hook] },
  ])('is equal to the general path where the queue has %j', async (settings) => {
    await client.flushAll();
    let now = START;
    const call = (name: ScriptName, args: readonly string[]) => both(`at ${now}`, name, [`guarded ${now}`, ...args]);
    const add = (...jobs: (Partial<NewJob> & { id: string })[]) =>
      call('add', addArguments(jobs.map((job) => ({ queue: 'q', data: '{"n":1}', ...job }))));
    const claim = async (requestId: string) => (await call('claim', ['w', requestId, '3', '', 'q'])).at(-1) as Job[];
    await add({ id: 'before' });
    await claim('before');
    await call('records-put', ['throttle', 't', '{"max":1}', '', '']);
    await call('records-put', ['queue', 'q', JSON.stringify(settings), '', '']);
    await add({ id: 'plain' }, { id: 'first', priority: -1 }, { id: 'tagged', tags: ['t'] }, { id: 'due', delayMs: 5 });
    now += 10;
    const held = (await claim('1')).map(({ id, lease }) => ({ id, token: lease?.token ?? 0 }));
    const [first = { id: 'before', token: 1 }, ...others] = held;
    const half = { percent: 50, text: null };
    await call('heartbeat', heartbeatArguments([{ ...first, progress: half }]));
    const failed = { group: 'g', message: 'no', detail: null };
    const outcomes = settleArguments([
      { ...first, kind: 'fail', failure: failed, delayMs: 0 },
      ...others.map((each): Settlement => ({ ...each, kind: 'complete' })),
    ]);
    const claimed = (await call('settle-claim', [String(outcomes.length), ...outcomes, 'w', '2', '3', '', 'q'])).at(-1);
    await add({ id: 'second' }, { id: 'third' });
    const [last] = claimed as Job[];
    const complete = settleArguments([{ id: last?.id ?? 'due', token: last?.lease?.token ?? 0, kind: 'complete' }]);
    await call('settle-claim', [String(complete.length), ...complete, 'w', '3', '1', '', 'q']);
    await compareKeys('at the end', `guarded ${now}`);
  });
});

const aJob = (id: string, roll: Roll): NewJob => ({
  id,
  queue: roll(5) === 0 ? 'other' : 'q',
  data: `{"n":${roll(10)}}`,
});

function settlementOf(job: Job, { settlement }: Kind, roll: Roll): Settlement {
  const held = { id: job.id, token: job.lease?.token ?? 0 };
  return settlement?.(held, roll) ?? { ...held, kind: 'complete', ...(roll(2) === 0 && { result: '{"a":1}' }) };
}

function someCall(roll: Roll, outcomes: string[], request: string[]): { name: ScriptName; args: string[] } {
  if (outcomes.length === 0 || roll(4) === 0) return { name: 'claim', args: request };
  if (roll(4) === 0) return { name: 'settle', args: outcomes };
  return { name: 'settle-claim', args: [String(outcomes.length), ...outcomes, ...request] };
}

/** The answer with its jobs read; for claims the last part is what was claimed. */
function meaning(answer: readonly string[], name: ScriptName): unknown[] {
  if (name !== 'claim' && name !== 'settle-claim') return [...answer];
  const from = name === 'claim' ? 2 : 3;
  return [...answer.slice(0, from), readJobs(answer, from)];
}

/** Ordinary jobs, and now and then one that is not. */
function anyJob(roll: Roll): Partial<NewJob> {
  const others: Partial<NewJob>[] = [
    { data: JSON.stringify('x'.repeat(2_000)) },
    { id: 'one-of-them' },
    { unique: { key: `key-${roll(9)}`, scope: 'queue', until: 'ended', periodMs: 0 } },
    { policy: { throttles: ['t'] } },
    { draft: true },
  ];
  const ordinary = [withPriority, withTags, withDelay, () => ({ name: 'named', policy: { retries: 2 } }), () => ({})];
  return roll(25) === 0 ? (others[roll(others.length)] ?? {}) : (ordinary[roll(ordinary.length)]?.(roll) ?? {});
}

/** Mostly complete; now and then with a token that is not the job's. */
function anySettlement(job: { id: string; token: number }, roll: Roll): Settlement | undefined {
  const held = { ...job, token: job.token - (roll(40) === 0 ? 1 : 0) };
  const others: Settlement[] = [
    { ...held, kind: 'complete' },
    { ...held, kind: 'complete', next: { queue: 'other', delayMs: 0 } },
    { ...held, kind: 'fail', failure: failure(roll), delayMs: 500, final: true },
    { ...held, kind: 'fail', failure: { ...failure(roll), detail: 'z'.repeat(2_000) }, delayMs: 0 },
    { ...held, kind: 'fail', failure: { ...failure(roll), message: 'm'.repeat(900) }, delayMs: 0 },
    { ...held, kind: 'release', reason: 'drain' },
    { ...held, kind: 'complete', result: JSON.stringify('y'.repeat(2_000)) },
  ];
  return roll(12) === 0 ? others[roll(others.length)] : oftenFailing(held, roll);
}
