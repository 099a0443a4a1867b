/** Calls that travel together have the outcome that they would have one by one. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import type { Job } from '../../core/job/job.ts';
import type { NewJob, Settlement } from '../../core/ports/job-store.ts';
import { addArguments } from './calls/add-request.ts';
import { settleArguments } from './calls/requests.ts';
import { ScriptSteps } from './calls/script-steps.ts';
import { type ScriptName, scriptText } from './calls/scripts.ts';
import { readHistory } from './encoding/job-history.ts';
import { readJobs } from './encoding/job-record.ts';
import { openRedisStore } from './open-redis-store.ts';

const aJob = (id: string): NewJob => ({ id, queue: 'q', data: '{}' });

/** The same sequence of numbers for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

describeWithRedis('calls that travel together', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  const hashes = new Map<ScriptName, string>();
  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url, RESP: 2 });
    await client.connect();
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  /** Sends the scripts of a call as the store does, and leaves the log of statistics as it is. */
  async function run(namespace: string, name: ScriptName, args: readonly string[]): Promise<string[]> {
    const steps = new ScriptSteps(
      async (each, given) => {
        const sha = hashes.get(each) ?? (await client.scriptLoad(scriptText(each)));
        hashes.set(each, sha);
        return await client.sendCommand(['EVALSHA', sha, '1', `{${namespace}}`, ...given]);
      },
      () => undefined,
    );
    const answer = await steps.run(name, args);
    return typeof answer === 'string' ? [answer] : [...(answer ?? [])];
  }

  it('add: hundreds at once, each with its own answer', async () => {
    const store = await openRedisStore({ url: server.url, namespace: 'adds' });
    onTestFinished(() => store.close());
    const ids = Array.from({ length: 2_500 }, (_, at) => `job-${at % 2_000}`);
    const results = await Promise.all(ids.map(async (id) => (await store.jobs.add([aJob(id)]))[0]));
    expect(results.map((result) => (result?.ok === true ? result.id : null))).toEqual(ids);
    expect(results.filter((result) => result?.ok === true && result.outcome === 'exists')).toHaveLength(500);
    expect(await store.jobs.count(['q'])).toMatchObject([{ waiting: 2_000 }]);
  });

  it('settle and claim in one turn: one call, both answered', async () => {
    const store = await openRedisStore({ url: server.url, namespace: 'turns' });
    onTestFinished(() => store.close());
    await store.jobs.add(['a', 'b', 'c'].map(aJob));
    const ask = (requestId: string) => store.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId });
    const first = await ask('1');
    const token = first.jobs[0]?.lease?.token ?? 0;
    const settled = store.jobs.settle([{ id: 'a', token, kind: 'release', reason: 'drain' }]);
    const second = await ask('2');
    expect(await settled).toEqual([{ ok: true, state: 'waiting' }]);
    expect(second.jobs.map(({ id, attempt }) => [id, attempt])).toEqual([['a', 2]]);
  });

  /** What a program of settlements and claims leaves, once each in its own call and once in one. */
  it('settle-claim: the same as a settle and then a claim, whatever was settled', async () => {
    const [apart, joined] = ['apart', 'joined'] as const;
    const roll = dice(7);
    let running: readonly Job[] = [];
    for (let step = 0; step < 250; step += 1) {
      const time = `guarded ${1_750_000_000_000 + step * 700}`;
      const added = Array.from({ length: roll(4) }, (_, at) => someJob(`job-${step}-${at}`, roll));
      const settled = settleArguments(running.slice(0, 1 + roll(3)).map((job) => someSettlement(job, roll)));
      const claim = ['w', `request-${step}`, String(1 + roll(4)), '', 'q', 'other'];
      for (const namespace of [apart, joined])
        if (added.length > 0) await run(namespace, 'add', [time, ...addArguments(added)]);
      const said = await run(apart, 'settle', [time, ...settled]);
      const taken = await run(apart, 'claim', [time, ...claim]);
      const both = await run(joined, 'settle-claim', [time, String(settled.length), ...settled, ...claim]);
      expect([both[0], both[1], both[2], readJobs(both, 3)]).toEqual([said[0], taken[0], taken[1], readJobs(taken, 2)]);
      running = [...running.slice(2), ...readJobs(taken, 2)];
    }
    expect(await everything(joined)).toEqual(await everything(apart));
  });

  async function everything(namespace: string): Promise<unknown> {
    const records = (await client.sendCommand(['HGETALL', `{${namespace}}j`])) as unknown as string[];
    const ids = records.filter((_, at) => at % 2 === 0 && !/^[!@#$%+]/.test(records[at] ?? '')).sort();
    const jobs = readJobs(await run(namespace, 'find', ['', ...ids]), 0);
    const histories = ids.map((id) => readHistory(records[records.indexOf(id) + 1] ?? ''));
    const late = ['guarded 1750001000000'];
    return [jobs, histories, await run(namespace, 'count', late), await run(namespace, 'storage', late)];
  }
});

function someJob(id: string, roll: (sides: number) => number): NewJob {
  const kinds: Partial<NewJob>[] = [
    {},
    { priority: roll(3) - 1 },
    { delayMs: roll(3) * 1_000 },
    { queue: 'other' },
    { unique: { key: id, scope: 'queue', until: 'started', periodMs: 0 }, policy: { retries: 2 } },
  ];
  return { ...aJob(id), ...kinds[roll(kinds.length)] };
}

function someSettlement({ id, lease }: Job, roll: (sides: number) => number): Settlement {
  const held = { id, token: (lease?.token ?? 0) - (roll(10) === 0 ? 1 : 0) };
  const failure = { group: 'boom', message: 'no', detail: null };
  const kinds: Settlement[] = [
    { ...held, kind: 'complete', result: '{}' },
    { ...held, kind: 'complete', next: { queue: 'other', delayMs: 0 } },
    { ...held, kind: 'fail', failure, delayMs: 500 },
    { ...held, kind: 'retry', failure, delayMs: 0 },
    { ...held, kind: 'release', reason: 'drain' },
    { ...held, kind: 'resend', delayMs: 0, reason: 'later' },
    { ...held, kind: 'crash', reason: 'gone' },
    { ...held, kind: 'forward', address: 'there' },
  ];
  return kinds[roll(kinds.length)] as Settlement;
}
