/** Claims that wait at a real server: they are answered by what other clients do, and none is lost or performed twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import type { ClaimRequest, ClaimResult, NewJob, Settlement } from '../../core/ports/job-store.ts';
import { openRedisStore, type RedisStore } from './open-redis-store.ts';

/** Longer than anything here takes: a claim that is answered by its time shows that no event ended its wait. */
const LONG_MS = 5_000;
const SOON_MS = 2_500;
const aJob = (id: string, queue = 'q'): NewJob => ({ id, queue, data: '{}' });
const idsOf = ({ jobs }: ClaimResult): string[] => jobs.map(({ id }) => id);

let counter = 0;
const aRequest = (worker: string, given: Partial<ClaimRequest> = {}): ClaimRequest => {
  counter += 1;
  return { worker, queues: ['q'], limit: 1, requestId: `r${counter}`, ...given };
};

interface Waiting {
  readonly answer: Promise<ClaimResult & { readonly ms: number }>;
  withdraw(): void;
}

/** Starts a claim that waits, and measures how long it takes. */
function startWait({ jobs }: RedisStore, request: ClaimRequest, ms = LONG_MS): Waiting {
  const abort = new AbortController();
  const startedAt = performance.now();
  const answer = jobs
    .claim(request, { wait: { ms, signal: abort.signal } })
    .then((result) => ({ ...result, ms: performance.now() - startedAt }));
  answer.catch(() => undefined);
  return { answer, withdraw: () => abort.abort() };
}

describeWithRedis('a claim that waits', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  async function open(options: { namespace?: string; url?: string; durability?: string } = {}): Promise<RedisStore> {
    const store = await openRedisStore({ url: server.url, namespace: `n${counter}`, ...options });
    onTestFinished(() => store.close());
    return store;
  }

  /** Opens two clients of a new namespace. */
  async function openTwo(): Promise<readonly [RedisStore, RedisStore]> {
    counter += 1;
    const namespace = `two${counter}`;
    return [await open({ namespace }), await open({ namespace })];
  }

  /**
   * Starts a claim, and returns when it waits at the server beside others. On a busy machine the first try may be answered
   * because its connection is not open yet.
   */
  async function startBlocked(store: RedisStore, request: ClaimRequest, others = 0): Promise<Waiting> {
    for (;;) {
      const waiting = startWait(store, request);
      let isAnswered = false;
      const answered = (): void => void (isAnswered = true);
      waiting.answer.then(answered, answered);
      for (; !isAnswered; await sleep(5)) if ((await blockedIds()).length > others) return waiting;
    }
  }

  /** Resolves when as many clients wait at the server. */
  async function blocked(count: number): Promise<void> {
    await expect.poll(() => blockedIds().then(({ length }) => length), { timeout: 5_000, interval: 5 }).toBe(count);
  }

  async function blockedIds(): Promise<string[]> {
    const list = await ask(server.port, 'CLIENT LIST');
    return [...list.matchAll(/^.*?id=(\d+) .*cmd=bzpopmin/gm)].map(([, id = '']) => id);
  }

  async function claimsOf(): Promise<number> {
    const info = await ask(server.port, 'INFO commandstats');
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
  }

  it('gets a job that another client adds later, and its lease begins then', async () => {
    const [worker, producer] = await openTwo();
    const { answer } = await startBlocked(worker, aRequest('w', { leaseMs: 60_000 }));
    await sleep(100);
    const before = Date.now();
    await producer.jobs.add([aJob('a')]);
    const { jobs, ms } = await answer;
    expect(jobs).toMatchObject([{ id: 'a', attempt: 1, lease: { worker: 'w' } }]);
    expect(jobs[0]?.lease?.until).toBeGreaterThanOrEqual(before + 60_000);
    expect(ms).toBeLessThan(SOON_MS);
  });

  it('gets a job that waits already at once, whatever made it claimable', async () => {
    const [worker, producer] = await openTwo();
    await producer.jobs.add([aJob('a')]);
    const first = await startWait(worker, aRequest('w')).answer;
    const token = first.jobs[0]?.lease?.token ?? 0;
    // It also pops the marker that the add has left.
    const idle = await startBlocked(worker, aRequest('w'));
    idle.withdraw();
    expect(idsOf(await idle.answer)).toEqual([]);
    const released = new Promise<void>((resolve) => {
      worker.jobs.subscribe((events) => {
        if (events.some(({ type, state }) => type !== 'added' && state === 'waiting')) resolve();
      }, 'work');
    });
    await worker.jobs.settle([{ id: 'a', token, kind: 'release', reason: 'drain' }]);
    // Then no later event ends the wait.
    await released;
    const again = await startWait(worker, aRequest('w')).answer;
    expect(idsOf(again)).toEqual(['a']);
    expect(again.ms).toBeLessThan(SOON_MS);
  });

  it('is answered without jobs when its time is over, and not earlier because of a marker that was left', async () => {
    const [worker, producer] = await openTwo();
    await producer.jobs.add([aJob('a')]);
    expect(idsOf(await worker.jobs.claim(aRequest('w')))).toEqual(['a']);
    const { jobs, ms } = await startWait(worker, aRequest('w'), 200).answer;
    expect(jobs).toEqual([]);
    expect(ms).toBeGreaterThanOrEqual(195);
    expect(ms).toBeLessThan(LONG_MS);
  });

  it.each<[string, (store: RedisStore, token: number) => Promise<unknown>]>([
    ['retried', (store, token) => settle(store, { ...retried, token })],
    ['released', (store, token) => settle(store, { id: 'a', token, kind: 'release', reason: 'drain' })],
    ['requeued', (store) => store.jobs.requeue([{ id: 'a', steal: true }])],
  ])('gets a job that is %s', async (_name, act) => {
    const [worker, other] = await openTwo();
    await other.jobs.add([{ ...aJob('a'), policy: { retries: 1 } }]);
    const claimed = await other.jobs.claim(aRequest('other'));
    const { answer } = await startBlocked(worker, aRequest('w'));
    await act(other, claimed.jobs[0]?.lease?.token ?? 0);
    expect(idsOf(await answer)).toEqual(['a']);
    expect((await answer).ms).toBeLessThan(SOON_MS);
  });

  it('gets a job when its queue is resumed', async () => {
    const [worker, other] = await openTwo();
    await other.records.put({ kind: 'queue', key: 'q', value: '{"state":"paused"}' });
    await other.jobs.add([aJob('a')]);
    const { answer } = await startBlocked(worker, aRequest('w'));
    await other.records.put({ kind: 'queue', key: 'q', value: '{"state":"up"}' });
    expect(idsOf(await answer)).toEqual(['a']);
    expect((await answer).ms).toBeLessThan(SOON_MS);
  });

  it('is performed when a delayed job that it knows of is due', async () => {
    const [worker, other] = await openTwo();
    await other.jobs.add([{ ...aJob('a'), delayMs: 150 }]);
    const { jobs, ms } = await startWait(worker, aRequest('w')).answer;
    expect(jobs).toHaveLength(1);
    expect(ms).toBeLessThan(SOON_MS);
  });

  it('ends when it is withdrawn, even before its pop has reached the server', async () => {
    const [worker] = await openTwo();
    await startWait(worker, aRequest('w'), 20).answer;
    const early = startWait(worker, aRequest('w'));
    early.withdraw();
    expect((await early.answer).ms).toBeLessThan(SOON_MS);
    const late = await startBlocked(worker, aRequest('w'));
    late.withdraw();
    expect(await late.answer).toMatchObject({ jobs: [] });
    expect((await late.answer).ms).toBeLessThan(SOON_MS);
  });

  it('does not hold up the closing of its store', async () => {
    const [worker] = await openTwo();
    const { answer } = await startBlocked(worker, aRequest('w'));
    await worker.close();
    expect(await answer).toMatchObject({ jobs: [] });
    expect((await answer).ms).toBeLessThan(SOON_MS);
    await blocked(0);
  });

  it('shares jobs of one add with others that wait, each job once', async () => {
    const [first, producer] = await openTwo();
    const namespace = `two${counter}`;
    const others = [await open({ namespace }), await open({ namespace })];
    const stores = [first, ...others];
    const answers: Waiting['answer'][] = [];
    for (const [at, store] of stores.entries())
      answers.push((await startBlocked(store, aRequest(`w${at}`), at)).answer);
    await producer.jobs.add(['a', 'b', 'c'].map((id) => aJob(id)));
    const results = await Promise.all(answers);
    expect(results.flatMap(idsOf).sort()).toEqual(['a', 'b', 'c']);
    for (const { ms } of results) expect(ms).toBeLessThan(SOON_MS);
  });

  it('waits for several queues', async () => {
    const [worker, producer] = await openTwo();
    const { answer } = await startBlocked(worker, aRequest('w', { queues: ['p', 'q'] }));
    await producer.jobs.add([aJob('a', 'q')]);
    expect(idsOf(await answer)).toEqual(['a']);
  });

  it('of five of one store, four wait and one is answered at once', async () => {
    const [worker] = await openTwo();
    for (let at = 0; at < 4; at += 1) await startBlocked(worker, aRequest(`w${at}`), at);
    expect((await startWait(worker, aRequest('w4')).answer).ms).toBeLessThan(SOON_MS);
    await worker.close();
  });

  it('costs one script for each job of an idle worker in the process of its producer', async () => {
    const [store] = await openTwo();
    await store.jobs.add([aJob('first')]);
    await startWait(store, aRequest('w')).answer;
    await startWait(store, aRequest('w'), 20).answer;
    const { answer } = await startBlocked(store, aRequest('w'));
    const before = await claimsOf();
    await store.jobs.add([aJob('a')]);
    expect(idsOf(await answer)).toEqual(['a']);
    await sleep(20);
    expect((await claimsOf()) - before).toBe(2);
  });

  it('is unknown when its connection is killed; its repeat gets the job, and the next claim waits again', async () => {
    const [worker, producer] = await openTwo();
    const request = aRequest('w');
    const { answer } = await startBlocked(worker, request);
    const [id = ''] = await blockedIds();
    await ask(server.port, `CLIENT KILL ID ${id}`);
    await expect(answer).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await worker.jobs.claim(request)).toMatchObject({ jobs: [] });
    await producer.jobs.add([aJob('a')]);
    expect(idsOf(await worker.jobs.claim(request))).toEqual(['a']);
    expect(idsOf(await worker.jobs.claim(request))).toEqual(['a']);
    const next = await startBlocked(worker, aRequest('w'));
    await producer.jobs.add([aJob('b')]);
    expect(idsOf(await next.answer)).toEqual(['b']);
  });

  it('follows the ordinary connection to a new one', async () => {
    const [worker, producer] = await openTwo();
    await startWait(worker, aRequest('w'), 20).answer;
    await ask(server.port, 'CLIENT KILL TYPE normal SKIPME yes');
    const probe = () => worker.jobs.claim(aRequest('w')).then(idsOf, () => null);
    await expect.poll(probe, { timeout: 5_000 }).toEqual([]);
    await expect.poll(() => producer.jobs.count(['q']).catch(() => null), { timeout: 5_000 }).not.toBeNull();
    const { answer } = await startBlocked(worker, aRequest('w'));
    await producer.jobs.add([aJob('a')]);
    expect(idsOf(await answer)).toEqual(['a']);
  });

  it('is performed although the server has forgotten the script', async () => {
    const [worker, producer] = await openTwo();
    const { answer } = await startBlocked(worker, aRequest('w'));
    await ask(server.port, 'SCRIPT FLUSH');
    await producer.jobs.add([aJob('a')]);
    expect(idsOf(await answer)).toEqual(['a']);
  });

  it.each(['bzpopmin', 'client|unblock', 'client|id'])('is answered at once for a user without %s', async (right) => {
    await ask(server.port, `ACL SETUSER limited on >secret ~* &* +@all -${right}`);
    const store = await open({ url: server.url.replace('redis://', 'redis://limited:secret@') });
    for (let at = 0; at < 3; at += 1) {
      const { jobs, ms } = await startWait(store, aRequest('w')).answer;
      expect(jobs).toEqual([]);
      expect(ms).toBeLessThan(SOON_MS);
    }
    await store.jobs.add([aJob('a')]);
    expect(idsOf(await startWait(store, aRequest('w')).answer)).toEqual(['a']);
  });

  it('gives every job to one worker while workers wait and connections are killed', { timeout: 60_000 }, async () => {
    counter += 1;
    const namespace = `many${counter}`;
    const stores = await Promise.all(Array.from({ length: 4 }, () => open({ namespace })));
    const total = 300;
    const runs = new Map<string, number>();
    let isOver = false;
    const work = async (store: RedisStore, name: string): Promise<void> => {
      let lost: ClaimRequest | null = null;
      while (!isOver) {
        const request: ClaimRequest = lost ?? aRequest(name);
        const wait = { ms: 300, signal: new AbortController().signal };
        const claimed: ClaimResult | null = await store.jobs
          .claim(request, lost === null ? { wait } : {})
          .catch(() => null);
        lost = claimed === null ? request : null;
        if (claimed === null) await sleep(20);
        for (const job of claimed?.jobs ?? []) {
          runs.set(job.id, (runs.get(job.id) ?? 0) + 1);
          const done: Settlement = { id: job.id, token: job.lease?.token ?? 0, kind: 'complete' };
          while ((await store.jobs.settle([done]).catch(() => null)) === null) await sleep(20);
        }
      }
    };
    const workers = stores.flatMap((store, at) => [work(store, `x${at}`), work(store, `y${at}`)]);
    const producer = await open({ namespace });
    for (let at = 0; at < total; at += 1) {
      await producer.jobs.add([aJob(`job${at}`)]);
      if (at % 10 === 0) await sleep(5);
      const [victim] = at % 50 === 25 ? await blockedIds() : [];
      if (victim !== undefined) await ask(server.port, `CLIENT KILL ID ${victim}`);
    }
    await expect.poll(() => producer.jobs.count(['q']), { timeout: 20_000 }).toMatchObject([{ done: total }]);
    isOver = true;
    await Promise.all(workers);
    expect([...runs.values()].filter((count) => count !== 1)).toEqual([]);
    expect(runs.size).toBe(total);
  });
});

const retried = { id: 'a', kind: 'retry', failure: { group: 'g', message: 'm', detail: null }, delayMs: 0 } as const;
const settle = ({ jobs }: RedisStore, settlement: Settlement): Promise<unknown> => jobs.settle([settlement]);
