import { setInterval } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startWorker, trialWorker } from '../../../test/support/trial-worker.ts';
import { GAP_MS } from '../../core/lifecycle/clock.ts';
import type { Heartbeat } from '../../core/ports/job-store.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import type { AttemptRunner } from '../attempt/run-outcome.ts';
import { AttemptAborted } from '../attempt/stop-reason.ts';
import { createWorker } from './worker.ts';

/** A handler that runs until it is asked to stop, and then stops at once. */
const untilStopped: AttemptRunner = (_job, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
const never: AttemptRunner = () => new Promise(() => undefined);

describe('a worker', () => {
  it('runs what is added, in order, and settles it with its result', async () => {
    const seen: string[] = [];
    const { add, next, find } = await startWorker({
      run: async ({ id, data }) => {
        seen.push(id);
        return { kind: 'complete', result: data };
      },
    });
    await add('a', { data: '1' });
    await add('b', { data: '2' });
    await next('ended', ({ job }) => job.id === 'b');
    expect(seen).toEqual(['a', 'b']);
    expect(await find('a')).toMatchObject({ state: 'done', result: '1', attempt: 1 });
  });

  it('claims only for its free slots', async () => {
    const { store, add, next, worker } = trialWorker({ concurrency: 2, run: untilStopped });
    for (const id of ['a', 'b', 'c']) await add(id);
    await worker.start();
    await next('started', ({ job }) => job.id === 'b');
    expect(worker.running().map(({ job }) => job.id)).toEqual(['a', 'b']);
    expect(store.callsOf('claim')).toMatchObject([{ limit: 2 }]);
  });

  it('runs more at once after a resize, never beyond its limit, and fewer when slots become free', async () => {
    const { add, next, worker, store } = trialWorker({ concurrency: 1, maxConcurrency: 3, run: untilStopped });
    for (const id of ['a', 'b', 'c', 'd']) await add(id);
    await worker.start();
    await next('started', ({ job }) => job.id === 'a');
    worker.resize(9);
    await next('started', ({ job }) => job.id === 'c');
    expect(worker.running().map(({ job }) => job.id)).toEqual(['a', 'b', 'c']);
    worker.resize(2);
    await store.jobs.cancel([{ id: 'a' }]);
    await next('ended', ({ job }) => job.id === 'a');
    await store.jobs.cancel([{ id: 'b' }]);
    await next('started', ({ job }) => job.id === 'd');
    expect(
      worker
        .running()
        .map(({ job }) => job.id)
        .sort(),
    ).toEqual(['c', 'd']);
  });

  it('sends the settlement of a job and the claim for its slot in one turn, and the settlement first', async () => {
    const { store, add, next, worker } = trialWorker({ concurrency: 3 });
    for (const id of ['a', 'b', 'c', 'd']) await add(id);
    await worker.start();
    await next('ended', ({ job }) => job.id === 'd');
    const names = store.calls.map(({ name }) => name).filter((name) => name === 'claim' || name === 'settle');
    expect(names.slice(0, 4)).toEqual(['claim', 'settle', 'claim', 'settle']);
    expect(store.callsOf('settle')[0]).toHaveLength(3);
  });

  it('with many slots, claims the second half before it starts the jobs of the first', async () => {
    const asked: number[] = [];
    const { store, add, next, worker } = trialWorker({
      concurrency: 40,
      run: async () => {
        asked.push(store.callsOf('claim').length);
        return { kind: 'complete' };
      },
    });
    for (let n = 0; n < 60; n += 1) await add(`job-${n}`);
    await worker.start();
    await next('ended', ({ job }) => job.id === 'job-59');
    expect(store.callsOf('claim').slice(0, 2)).toMatchObject([{ limit: 20 }, { limit: 20 }]);
    expect(asked[0]).toBe(2);
  });

  it('releases a job whose lease was over when the claim was answered, and does not start it', async () => {
    let begun = 0;
    const { store, add, next, events, worker } = trialWorker({
      leaseMs: 200,
      run: async () => {
        begun += 1;
        return { kind: 'complete' };
      },
    });
    await add('a');
    store.break(['claim'], 'late-reply', 1);
    await worker.start();
    await expect
      .poll(async () => ((await store.jobs.find(['a']))[0]?.lease?.until ?? Number.POSITIVE_INFINITY) < Date.now())
      .toBe(true);
    store.heal();
    const { settlement } = await next('ended', ({ job }) => job.id === 'a');
    expect(settlement).toMatchObject({ kind: 'release', reason: 'its lease was over before it began' });
    expect(
      events.slice(
        0,
        events.findIndex(({ type }) => type === 'ended'),
      ),
    ).not.toContainEqual(expect.objectContaining({ type: 'started' }));
    await next('ended', ({ job, settlement: sent }) => job.id === 'a' && sent?.kind === 'complete');
    expect(begun).toBe(1);
  });

  it('starts a delayed job at its time, and a job of a paused queue when the queue is resumed', async () => {
    const { store, add, next } = await startWorker();
    await add('later', { delayMs: 150 });
    const { job } = await next('started');
    expect(job.lease.claimedAt).toBeGreaterThanOrEqual(job.runAt);
    expect(job.lease.claimedAt - job.runAt).toBeLessThan(150);
    await store.records.put({ kind: 'queue', key: 'q', value: '{"state":"paused"}' });
    await add('paused');
    await store.records.put({ kind: 'queue', key: 'q', value: '{}' });
    expect((await next('started', ({ job }) => job.id === 'paused')).job.attempt).toBe(1);
  });

  it('claims a job that was added while the answer to an empty claim was on its way', async () => {
    const { store, add, next } = await startWorker();
    store.break(['claim'], 'late-reply', 1);
    await expect.poll(() => store.callsOf('claim').length).toBe(1);
    await add('a');
    store.heal();
    await next('started', undefined, 500);
  });

  it('claims nothing while it is paused', async () => {
    const { worker, add, next, store } = await startWorker();
    await next('ended', undefined, 50).catch(() => undefined);
    worker.pause();
    const before = store.callsOf('claim').length;
    await add('a');
    await expect(next('started', undefined, 50)).rejects.toThrow('no event');
    expect(store.callsOf('claim')).toHaveLength(before);
    worker.resume();
    await next('ended');
  });

  it('that has no reason to claim calls the store before the store assumes an outage', async () => {
    const { add, next, store } = await startWorker({ run: never });
    await add('a');
    await next('started');
    const before = store.callsOf('keepWorker').length;
    const fullAt = performance.now();
    // It may have called once more before a busy machine looks.
    await expect.poll(() => store.callsOf('keepWorker').length, { timeout: 10_000 }).toBeGreaterThanOrEqual(before + 2);
    expect((performance.now() - fullAt) / 2).toBeLessThan(GAP_MS);
  });

  it('registers itself, and deregisters when it stops', async () => {
    const { worker, store } = await startWorker({ info: '{"version":1}' });
    expect(await store.jobs.workers()).toMatchObject([
      { id: worker.id, host: 'here', queues: ['q'], info: '{"version":1}' },
    ]);
    await worker.stop();
    expect(await store.jobs.workers()).toEqual([]);
  });

  it('cannot be created without a queue or a slot', () => {
    const options = { store: openMemoryStore(), run: never, settingsFor: () => null as never, host: '', pid: 1 };
    const made = (queues: string[], concurrency: number) => () =>
      createWorker({ ...options, queues, concurrency, random: Math.random, newId: () => '' });
    expect(made([], 1)).toThrow('names no queue');
    expect(made(['q'], 0)).toThrow('whole number');
  });
});

describe('a handler', () => {
  it('that throws has failed, and is retried after its backoff', async () => {
    const { add, next, find } = await startWorker({
      settings: { retries: 1, backoff: { kind: 'fixed', delayMs: 50, maxMs: 50, jitter: 0, delaysMs: [] } },
      run: async (job) => {
        if (job.failures === 0) throw new RangeError('no 7 of 9');
        return { kind: 'complete' };
      },
    });
    await add('a', { policy: { retries: 1 } });
    const first = await next('ended');
    expect(first).toMatchObject({
      settlement: { kind: 'fail', failure: { group: 'RangeError: no * of *' }, delayMs: 50 },
    });
    await next('ended');
    expect(await find('a')).toMatchObject({ state: 'done', failures: 1, attempt: 2 });
  });

  it('that throws before it returns a promise has failed as well', async () => {
    const { add, next } = await startWorker({
      run: () => {
        throw new Error('at once');
      },
    });
    await add('a');
    expect(await next('ended')).toMatchObject({ answer: { ok: true, state: 'failed' } });
  });

  it('that throws a final error is not retried', async () => {
    const { add, next } = await startWorker({
      run: async () => {
        throw Object.assign(new Error('no'), { final: true, group: 'mine' });
      },
    });
    await add('a', { policy: { retries: 5 } });
    expect(await next('ended')).toMatchObject({
      settlement: { failure: { group: 'mine' } },
      answer: { state: 'failed' },
    });
  });

  it('may run for many leases', async () => {
    const { add, next, find, store } = await startWorker({
      leaseMs: 100,
      run: async (_job, { heartbeatNow }) => {
        await heartbeatNow();
        await expect.poll(() => store.callsOf('heartbeat').length, { timeout: 5_000 }).toBeGreaterThan(12);
        return { kind: 'complete' };
      },
    });
    await add('a');
    await next('ended');
    const done = await find('a');
    expect(done).toMatchObject({ state: 'done', attempt: 1, crashes: 0 });
    expect((done.endedAt ?? 0) - done.createdAt).toBeGreaterThan(200);
  });

  it('finds its checkpoint after a failure, even one that it did not await', async () => {
    const found: (string | null)[] = [];
    const { add, next } = await startWorker({
      run: async (job, { checkpoint, progress }) => {
        found.push(job.checkpoint);
        progress(10, 'ten');
        if (job.failures === 0) await checkpoint('"first"');
        void checkpoint(`"after ${job.failures}"`);
        throw new Error('on purpose');
      },
    });
    const backoff = { kind: 'fixed', delayMs: 0, maxMs: 0, jitter: 0, delaysMs: [] } as const;
    await add('a', { policy: { retries: 1, backoff } });
    await next('ended');
    await next('ended');
    expect(found).toEqual([null, '"after 0"']);
  });

  it('is shown as started, with its process and its progress', async () => {
    const { add, next, find, worker } = await startWorker({
      reportsStart: true,
      run: async (job, context) => {
        context.started(4711);
        context.progress(40, 'pass 1');
        await context.heartbeatNow();
        return await untilStopped(job, context);
      },
    });
    await add('a');
    await next('started');
    await expect
      .poll(() => find('a'), { timeout: 2_000 })
      .toMatchObject({
        lease: { pid: 4711 },
        progress: { percent: 40, text: 'pass 1' },
      });
    await worker.stop({ force: true });
  });
});

describe('progress', () => {
  it('is sent once a second, however often it is reported, and its last value wins', async () => {
    const { add, next, store, find } = await startWorker({
      run: (job, context) => {
        for (let percent = 0; percent <= 99; percent += 1) context.progress(percent);
        return untilStopped(job, context);
      },
    });
    await add('a');
    await next('started');
    await expect.poll(async () => (await find('a')).progress?.percent, { timeout: 3_000 }).toBe(99);
    const said = (store.callsOf('heartbeat') as Heartbeat[][]).flat().filter(({ progress }) => progress !== undefined);
    expect(said.length).toBeLessThanOrEqual(2);
  });
});

describe('an attempt is stopped', () => {
  it('by a cancel, at once, and ends cancelled', async () => {
    const { add, next, store, find } = await startWorker({ run: untilStopped });
    await add('a');
    await next('started');
    await store.jobs.cancel([{ id: 'a' }]);
    expect(await next('stopping', undefined, 500)).toMatchObject({ reason: 'cancel' });
    await next('ended');
    expect(await find('a')).toMatchObject({ state: 'cancelled' });
  });

  it('by the loss of its lease; its late result is refused, and recorded', async () => {
    const { add, next, store } = await startWorker({
      run: async (_job, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        expect(signal.reason).toBeInstanceOf(AttemptAborted);
        expect(signal.reason).toMatchObject({ name: 'AbortError', reason: 'lease-lost' });
        return { kind: 'complete', result: '"late"' };
      },
    });
    await add('a');
    await next('started');
    await store.jobs.move([{ id: 'a', queue: 'elsewhere', steal: true }]);
    expect(await next('ended')).toMatchObject({ stopReason: 'lease-lost', answer: { ok: false } });
    expect((await store.jobs.history('a')).at(-1)).toMatchObject({ event: 'late', note: 'complete: "late"' });
  });

  it('by its maximum run time, and fails as a timeout', async () => {
    const { add, next } = await startWorker({ run: untilStopped });
    await add('a', { policy: { maxRuntimeMs: 60 } });
    expect(await next('ended')).toMatchObject({
      settlement: { failure: { group: 'timeout' } },
      stopReason: 'time-out',
    });
  });

  it('by its silence, but not while it reports progress', async () => {
    let spokeUntil = Number.POSITIVE_INFINITY;
    const { add, next } = await startWorker({
      run: async (job, context) => {
        const startedAt = performance.now();
        for await (const _ of setInterval(20)) {
          context.alive();
          if (performance.now() - startedAt > 300) break;
        }
        spokeUntil = performance.now();
        context.progress(50);
        return await untilStopped(job, context);
      },
    });
    await add('a', { policy: { maxSilenceMs: 120 } });
    const ended = await next('ended');
    expect(ended).toMatchObject({ settlement: { failure: { group: 'silent' } }, stopReason: 'silent' });
    expect(performance.now() - spokeUntil).toBeGreaterThan(110);
  });

  it('only once: the first reason wins', async () => {
    const { add, next, store, worker, events } = await startWorker({ run: never, settings: { graceMs: 50 } });
    await add('a');
    await next('started');
    await store.jobs.cancel([{ id: 'a' }]);
    await next('stopping');
    await worker.stop({ force: true });
    expect(events.filter(({ type }) => type === 'stopping')).toHaveLength(1);
    expect(await next('ended')).toMatchObject({ stopReason: 'cancel', answer: { state: 'cancelled' } });
  });

  it('emits that an operator asks it to pause, and to resume', async () => {
    const { add, next, store } = await startWorker({ run: untilStopped });
    await add('a');
    await next('started');
    await store.jobs.change([{ id: 'a', pause: true }]);
    expect(await next('pause-asked')).toMatchObject({ isAsked: true });
    await store.jobs.change([{ id: 'a', pause: false }]);
    expect(await next('pause-asked')).toMatchObject({ isAsked: false });
  });
});

describe('a worker that an operator failed', () => {
  it('stops its work and continues under another id', async () => {
    const { add, next, store, worker } = await startWorker({ leaseMs: 400, run: untilStopped });
    const first = worker.id;
    await add('a');
    await next('started');
    await store.jobs.endWorker({ id: first, kind: 'fail' });
    expect(await next('stopping')).toMatchObject({ reason: 'lease-lost', job: { attempt: 1 } });
    expect(await next('restarted')).toEqual({ type: 'restarted', from: first, to: worker.id });
    expect(worker.id).not.toBe(first);
    expect((await next('started')).job).toMatchObject({ id: 'a', attempt: 2, crashes: 1 });
    await expect.poll(() => store.jobs.workers()).toMatchObject([{ id: worker.id }]);
    // What it claimed before it knew is its own, and goes on.
    await expect(next('stopping', undefined, 200)).rejects.toThrow('no event');
    expect(worker.running()).toMatchObject([{ job: { attempt: 2 } }]);
  });
});
