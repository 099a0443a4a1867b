import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWorker, trialWorker } from '../../../test/support/trial-worker.ts';
import type { ClaimRequest, JobStore } from '../../core/ports/job-store.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import type { AttemptRunner } from '../attempt/run-outcome.ts';

const untilStopped: AttemptRunner = (_job, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longhaul-outage-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('when an answer is lost', () => {
  it('a claim is repeated under its own id, so that every lease has a holder', async () => {
    const { store, add, next, find } = await startWorker();
    store.break(['claim'], 'lost-reply', 2);
    await add('a');
    await next('ended');
    const requests = store.callsOf('claim') as ClaimRequest[];
    const ids = requests.map(({ requestId }) => requestId);
    const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
    expect(repeated.length).toBeGreaterThan(0);
    expect(await find('a')).toMatchObject({ state: 'done', attempt: 1 });
  });

  it('a settlement is repeated, and answered as the first time', async () => {
    const { store, add, next, find } = await startWorker();
    store.break(['settle'], 'lost-reply', 1);
    await add('a');
    expect(await next('ended')).toMatchObject({ answer: { ok: true, state: 'done' } });
    expect(store.callsOf('settle')).toHaveLength(2);
    expect((await store.jobs.history('a')).map(({ event }) => event)).toEqual(['added', 'claimed', 'completed']);
    expect(await find('a')).toMatchObject({ attempt: 1 });
  });
});

describe('when the store is unavailable', () => {
  it('emits one event, and one when it is back', async () => {
    const { store, next, events, worker } = await startWorker();
    store.break(['claim', 'keepWorker'], 'unavailable');
    worker.wake();
    await next('store-away');
    await expect.poll(() => store.callsOf('claim').length).toBeGreaterThan(4);
    store.heal();
    await next('store-back');
    expect(events.filter(({ type }) => type === 'store-away')).toHaveLength(1);
  });

  it('an attempt continues where no other machine could claim its job', async () => {
    const { store, add, next, find, worker } = await startWorker({ leaseMs: 200, run: untilStopped });
    await add('a');
    await next('started');
    store.break(['claim', 'keepWorker', 'heartbeat'], 'unavailable');
    await next('store-away');
    await expect(next('stopping', undefined, 400)).rejects.toThrow('no event');
    store.heal();
    await next('store-back');
    expect(worker.running()).toHaveLength(1);
    expect(await find('a')).toMatchObject({ state: 'running', attempt: 1 });
  });

  it('an attempt is stopped before its lease ends where another machine could', async () => {
    let stoppedAt = Number.POSITIVE_INFINITY;
    const { store, add, next, find } = await startWorker({
      leaseMs: 2_000,
      onUnreachable: 'stop',
      run: (job, context) => {
        context.signal.addEventListener('abort', () => (stoppedAt = Date.now()));
        return untilStopped(job, context);
      },
    });
    await add('a');
    await next('started');
    store.break(['claim', 'keepWorker', 'heartbeat', 'settle'], 'unavailable');
    expect(await next('stopping')).toMatchObject({ reason: 'unreachable' });
    expect(stoppedAt).toBeLessThan((await find('a')).lease?.until ?? 0);
    store.heal();
    expect(await next('ended')).toMatchObject({ settlement: { kind: 'release' }, answer: { ok: true } });
    expect(await find('a')).toMatchObject({ interruptions: 1, failures: 0 });
  });

  it('a job that the same worker gets again starts when its earlier attempt has stopped', async () => {
    const live: number[] = [];
    const { store, add, next, worker } = await startWorker({
      leaseMs: 200,
      concurrency: 2,
      run: async (job, context) => {
        live.push(job.attempt);
        if (job.attempt > 1) return { kind: 'complete', result: JSON.stringify(live) };
        return await untilStopped(job, context).finally(() => live.shift());
      },
    });
    await add('a');
    const { job } = await next('started');
    store.break(['heartbeat'], 'unavailable');
    await expect.poll(() => Date.now()).toBeGreaterThan(job.lease.until);
    worker.wake();
    expect(await next('stopping', undefined, 5_000)).toMatchObject({ reason: 'lease-lost' });
    await next('ended', ({ settlement }) => settlement?.kind === 'complete');
    expect(await store.jobs.find(['a'])).toMatchObject([{ state: 'done', result: '[2]' }]);
  });

  it('a heartbeat that hangs does not delay the next', async () => {
    const { store, add, next, find } = await startWorker({ leaseMs: 1_000, run: untilStopped });
    await add('a');
    const { job } = await next('started');
    store.break(['heartbeat'], 'hang', 1);
    await next('store-away', undefined, 3_000);
    await next('store-back', undefined, 3_000);
    expect((await find('a')).lease?.until).toBeGreaterThan(job.lease.until);
  });

  it('settlements wait on disk, and are delivered when it is back', async () => {
    const path = join(folder, 'journal');
    const { store, add, next, find } = await startWorker({ journalPath: path, concurrency: 3 });
    store.break(['settle'], 'unavailable');
    for (const id of ['a', 'b', 'c']) await add(id);
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    store.heal();
    for (const _ of 'abc') await next('ended');
    expect(await find('b')).toMatchObject({ state: 'done' });
    await expect.poll(() => readdir(folder)).toEqual([]);
  });

  it('another worker delivers what a stopped worker could not', async () => {
    const path = join(folder, 'journal');
    const shared = openMemoryStore();
    const gone = await startWorker({ store: shared, journalPath: path });
    gone.store.break(['settle'], 'unavailable');
    await gone.add('a');
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    await gone.worker.stop({ force: true });
    const { next } = await startWorker({ store: shared, journalPath: path, queues: ['other'] });
    expect(await next('journal-found')).toMatchObject({ settlements: 1 });
    expect(await next('delivered')).toMatchObject({ answer: { ok: true, state: 'done' } });
    await expect.poll(() => readdir(folder)).toEqual([]);
  });

  it('claims no more than fits into the lease table', async () => {
    const { store, add, next, events } = await startWorker({ concurrency: 1 });
    store.break(['settle'], 'unavailable');
    for (let index = 0; index < 10; index += 1) await add(`job-${index}`);
    await expect.poll(() => events.filter(({ type }) => type === 'started').length).toBe(8);
    await expect(next('started', ({ job }) => job.id === 'job-8', 100)).rejects.toThrow('no event');
    store.heal();
    await next('ended', ({ job }) => job.id === 'job-9');
  });
});

describe('a settlement that the store cannot read', () => {
  it('fails its own job and no other', async () => {
    const real = openMemoryStore();
    const picky = {
      ...real,
      jobs: {
        ...real.jobs,
        settle: async (...args: Parameters<typeof real.jobs.settle>) => {
          const isBad = args[0].some((each) => each.kind === 'complete' && each.result === 'unreadable');
          if (isBad) throw Object.assign(new Error('the result is too long'), { code: 'bad-input' });
          return await real.jobs.settle(...args);
        },
      },
    };
    const { add, next, find } = await startWorker({
      store: picky,
      concurrency: 3,
      run: async ({ data }) => ({ kind: 'complete', result: data }),
    });
    await add('a', { data: '1' });
    await add('b', { data: 'unreadable' });
    await add('c', { data: '3' });
    for (const _ of 'abc') await next('ended');
    expect(await find('a')).toMatchObject({ state: 'done' });
    expect(await find('b')).toMatchObject({ state: 'failed', failure: { message: 'the result is too long' } });
    expect(await find('c')).toMatchObject({ state: 'done' });
  });
});

/** A memory store that answers claims some turns later, and the most claims that were in flight. */
function aSlowStore() {
  const store = openMemoryStore();
  const inFlight = { now: 0, most: 0 };
  const claim: JobStore['claim'] = async (request) => {
    inFlight.most = Math.max(inFlight.most, ++inFlight.now);
    const result = await store.jobs.claim(request);
    for (let turn = 0; turn < 5; turn += 1) await aTurn();
    inFlight.now -= 1;
    return result;
  };
  return { store: { ...store, jobs: { ...store.jobs, claim } }, inFlight };
}

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('with two requests in flight', () => {
  it('lost replies cost no attempt and no settlement, and the worker stays within its slots', async () => {
    const ids = Array.from({ length: 400 }, (_, index) => `job-${index}`);
    const slots = { taken: 0, most: 0, jobs: 0 };
    const { store: slowStore, inFlight } = aSlowStore();
    const { store, events, worker } = trialWorker({
      store: slowStore,
      concurrency: 20,
      run: async () => {
        slots.most = Math.max(slots.most, ++slots.taken);
        slots.jobs += 1;
        if (slots.jobs % 100 === 0) store.break(['claim', 'settle'], 'lost-reply', 2);
        await aTurn();
        slots.taken -= 1;
        return { kind: 'complete' };
      },
    });
    await store.jobs.add(ids.map((id) => ({ id, queue: 'q', data: '{}' })));
    await worker.start();
    const settled = () => events.filter((event) => event.type === 'ended' && event.answer?.ok === true).length;
    await expect.poll(settled).toBe(ids.length);
    await worker.stop();
    const requests = (store.callsOf('claim') as ClaimRequest[]).map(({ requestId }) => requestId);
    expect(requests.length - new Set(requests).size).toBeGreaterThan(2);
    expect(inFlight.most).toBe(2);
    const jobs = await store.jobs.find(ids);
    expect(jobs.filter((job) => job?.state !== 'done' || job.attempt !== 1)).toEqual([]);
    expect(slots.jobs).toBe(ids.length);
    expect(slots.most).toBeLessThanOrEqual(20);
  });
});
