import { describe, expect, it } from 'vitest';
import { startWorker } from '../../../test/support/trial-worker.ts';
import type { AttemptOutcome, AttemptRunner } from './run-outcome.ts';

/** A runner that heeds no signal: each of its attempts ends when the test says so. */
function deafRunner() {
  const ends = new Map<string, (outcome: AttemptOutcome | Error) => void>();
  const run: AttemptRunner = (job) =>
    new Promise((resolve, reject) =>
      ends.set(job.id, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome))),
    );
  return { run, end: (id: string, outcome: AttemptOutcome | Error) => ends.get(id)?.(outcome) };
}

const settings = { graceMs: 30 };
const complete = { kind: 'complete', result: '1' } as const;

describe('a handler that does not stop within its grace', () => {
  it('leaves its job cancelled, with a note that its code may still run', async () => {
    const { add, next, find, store } = await startWorker({ ...deafRunner(), settings });
    await add('a', { unique: { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 } });
    await next('started');
    await store.jobs.cancel([{ id: 'a' }]);
    expect(await next('abandoned')).toMatchObject({ job: { id: 'a' }, reason: 'cancel' });
    expect(await next('ended')).toMatchObject({ answer: { ok: true, state: 'cancelled' }, stopReason: 'cancel' });
    expect(await find('a')).toMatchObject({ state: 'cancelled', lease: null });
    expect((await store.jobs.history('a')).at(-1)).toMatchObject({
      event: 'cancelled',
      note: expect.stringContaining('its code may still run'),
    });
    const answers = await store.jobs.add([
      { id: 'b', queue: 'other', data: '{}', unique: { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 } },
    ]);
    expect(answers).toMatchObject([{ ok: true }]);
  });

  it.each([
    ['time-out', { maxRuntimeMs: 20 }],
    ['silent', { maxSilenceMs: 20 }],
  ] as const)('leaves its job failed by its limit: %s', async (reason, policy) => {
    const { add, next, find } = await startWorker({ ...deafRunner(), settings });
    await add('a', { policy });
    expect(await next('abandoned')).toMatchObject({ reason });
    await next('ended');
    expect(await find('a')).toMatchObject({
      state: 'failed',
      failure: { detail: expect.stringContaining('may still') },
    });
  });

  it('after a lost lease sends nothing, and its slot stays taken', async () => {
    const { add, next, store, worker } = await startWorker({ ...deafRunner(), settings });
    await add('a');
    await next('started');
    await store.jobs.move([{ id: 'a', queue: 'other', steal: true }]);
    expect(await next('abandoned')).toMatchObject({ reason: 'lease-lost' });
    await next('ended');
    expect(store.callsOf('settle')).toEqual([]);
    expect(worker.running()).toMatchObject([{ job: { id: 'a' }, isAbandoned: true }]);
  });

  it('keeps its slot until its promise settles; what it returns then is an event, and is not sent', async () => {
    const runner = deafRunner();
    const { add, next, find, store, worker, events } = await startWorker({ run: runner.run, settings });
    await add('deaf');
    await next('started');
    await store.jobs.cancel([{ id: 'deaf' }]);
    await next('ended');
    await add('next');
    worker.wake();
    await expect(next('started', ({ job }) => job.id === 'next', 100)).rejects.toThrow('no event');
    expect(worker.running()).toMatchObject([{ job: { id: 'deaf' }, stopReason: 'cancel', isAbandoned: true }]);

    runner.end('deaf', complete);
    expect(await next('late-outcome')).toMatchObject({ job: { id: 'deaf' }, outcome: complete, reason: 'cancel' });
    await next('started', ({ job }) => job.id === 'next');
    expect(worker.running()).toMatchObject([{ job: { id: 'next' }, isAbandoned: false }]);
    expect(store.callsOf('settle')).toHaveLength(1);
    expect(await find('deaf')).toMatchObject({ state: 'cancelled', result: null });
    expect(events.filter(({ type }) => type === 'abandoned')).toHaveLength(1);
  });

  it('frees its slot when it throws', async () => {
    const runner = deafRunner();
    const { add, next, store } = await startWorker({ run: runner.run, settings });
    await add('deaf');
    await next('started');
    await store.jobs.cancel([{ id: 'deaf' }]);
    await next('ended');
    await add('next');
    runner.end('deaf', new Error('too late'));
    expect(await next('late-outcome')).toMatchObject({ outcome: { kind: 'fail', failure: { message: 'too late' } } });
    await next('started', ({ job }) => job.id === 'next');
  });

  it('does not keep its worker from stopping', async () => {
    const runner = deafRunner();
    const { add, next, store, worker } = await startWorker({ run: runner.run, settings });
    await add('a');
    await next('started');
    await store.jobs.cancel([{ id: 'a' }]);
    await next('ended');
    await worker.stop();
    expect(await store.jobs.workers()).toEqual([]);
    runner.end('a', complete);
    await next('late-outcome');
    await new Promise(setImmediate);
    expect(await store.jobs.workers()).toEqual([]);
  });

  it('is waited for when its runner enforces the stop', async () => {
    const runner = deafRunner();
    const { add, next, store, find } = await startWorker({ run: runner.run, settings, enforcesStop: true });
    await add('a');
    await next('started');
    await store.jobs.cancel([{ id: 'a' }]);
    await next('stopping');
    await expect(next('abandoned', undefined, 100)).rejects.toThrow('no event');
    expect(await find('a')).toMatchObject({ state: 'running' });
    runner.end('a', { kind: 'fail', failure: { group: 'g', message: 'killed', detail: null } });
    expect(await next('ended')).toMatchObject({ answer: { state: 'cancelled' } });
  });
});

describe('a worker with abandoned handlers', () => {
  const cancelled = async (trial: Awaited<ReturnType<typeof startWorker>>, ids: readonly string[]) => {
    for (const id of ids) {
      await trial.add(id);
      await trial.next('started', ({ job }) => job.id === id);
    }
    await trial.store.jobs.cancel(ids.map((id) => ({ id })));
    for (const id of ids) await trial.next('ended', ({ job }) => job.id === id);
  };
  const shownBy = async ({ store }: Awaited<ReturnType<typeof startWorker>>): Promise<unknown> =>
    JSON.parse((await store.jobs.workers())[0]?.info ?? 'null');

  it('drains at maxAbandoned and shows why, until one of them ends', async () => {
    const runner = deafRunner();
    const trial = await startWorker({
      run: runner.run,
      settings,
      concurrency: 4,
      maxAbandoned: 2,
      info: '{"offers":{"cpu":1}}',
    });
    await cancelled(trial, ['a']);
    await trial.add('b');
    await trial.next('started', ({ job }) => job.id === 'b');
    await expect.poll(() => shownBy(trial)).toEqual({ offers: { cpu: 1 }, abandoned: 1 });
    await cancelled(trial, ['c']);
    expect(await trial.next('draining')).toEqual({
      type: 'draining',
      abandoned: 2,
      reason: '2 abandoned handlers still run, and maxAbandoned is 2',
    });
    await expect
      .poll(() => shownBy(trial))
      .toEqual({ offers: { cpu: 1 }, abandoned: 2, draining: '2 abandoned handlers still run, and maxAbandoned is 2' });
    await trial.add('d');
    trial.worker.wake();
    await expect(trial.next('started', undefined, 100)).rejects.toThrow('no event');
    runner.end('b', complete);
    await trial.next('ended', ({ job }) => job.id === 'b');

    runner.end('a', complete);
    await trial.next('resumed');
    await trial.next('started', ({ job }) => job.id === 'd');
    await expect.poll(() => shownBy(trial)).toEqual({ offers: { cpu: 1 }, abandoned: 1 });
    runner.end('c', complete);
    await expect.poll(() => shownBy(trial)).toEqual({ offers: { cpu: 1 } });
  });

  it('shows that they take every slot', async () => {
    const trial = await startWorker({ ...deafRunner(), settings });
    await cancelled(trial, ['a']);
    expect(await trial.next('draining')).toMatchObject({
      reason: '1 abandoned handler still runs, and takes every slot',
    });
    await expect.poll(() => shownBy(trial)).toMatchObject({ abandoned: 1 });
  });
});
