import { describe, expect, it } from 'vitest';
import { startWorker, trialWorker } from '../../../test/support/trial-worker.ts';
import type { AttemptRunner } from '../attempt/run-outcome.ts';

const untilStopped: AttemptRunner = (_job, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
const never: AttemptRunner = () => new Promise(() => undefined);

describe('stopping a worker', () => {
  it('lets running attempts end, and claims nothing more', async () => {
    let finish = (): void => undefined;
    const { worker, add, next, find, events } = await startWorker({
      run: () => new Promise((resolve) => (finish = () => resolve({ kind: 'complete' }))),
    });
    await add('a');
    await next('started');
    const stopped = worker.stop();
    await add('b');
    finish();
    await stopped;
    expect(events.filter(({ type }) => type === 'stopping')).toEqual([]);
    expect(await find('a')).toMatchObject({ state: 'done' });
    expect(await find('b')).toMatchObject({ state: 'waiting', attempt: 0 });
  });

  it('stops running attempts when the drain is over, and releases them as interruptions', async () => {
    const { worker, add, next, find } = await startWorker({ run: untilStopped });
    await add('a');
    await next('started');
    await worker.stop({ drainMs: 30 });
    expect(await next('stopping')).toMatchObject({ reason: 'draining' });
    expect(await find('a')).toMatchObject({ state: 'waiting', interruptions: 1, failures: 0, crashes: 0 });
    expect((await find('a')).returnedAt).not.toBeNull();
  });

  it('releases an attempt that does not stop within its grace', async () => {
    const { worker, add, next, find } = await startWorker({ run: never, settings: { graceMs: 30 } });
    await add('a');
    await next('started');
    await worker.stop({ drainMs: 10 });
    expect(await next('abandoned')).toMatchObject({ reason: 'draining' });
    expect(await find('a')).toMatchObject({ state: 'waiting', interruptions: 1 });
  });

  it('keeps an outcome whose grace ends while the last heartbeat is in flight', async () => {
    const { worker, store, add, next, events } = await startWorker({
      run: async (_job, { checkpoint, signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        void checkpoint('1');
        return { kind: 'complete' };
      },
    });
    await add('a');
    await next('started');
    store.break(['heartbeat'], 'hang');
    const stopped = worker.stop({ force: true });
    await expect.poll(() => store.callsOf('settle').length, { timeout: 3_000 }).toBe(1);
    store.heal();
    await stopped;
    expect(await next('ended')).toMatchObject({ settlement: { kind: 'complete' }, stopReason: 'draining' });
    expect(events.filter(({ type }) => type === 'abandoned')).toEqual([]);
  });

  it('by force does not wait, even when a graceful stop is in progress', async () => {
    const { worker, add, next, find } = await startWorker({ run: never });
    await add('a');
    await next('started');
    const patient = worker.stop({ drainMs: 60_000 });
    await Promise.all([patient, worker.stop({ force: true })]);
    expect(await find('a')).toMatchObject({ state: 'waiting', interruptions: 1 });
  });

  it('releases the jobs of a claim that was in flight', async () => {
    const { worker, store, add, next, find } = await startWorker();
    store.break(['claim'], 'hang', 1);
    await add('a');
    await expect.poll(() => store.callsOf('claim').length).toBeGreaterThan(0);
    const stopped = worker.stop();
    store.heal();
    await stopped;
    expect(await find('a')).toMatchObject({ state: 'waiting', attempt: 1, interruptions: 1 });
    await expect(next('started', undefined, 10)).rejects.toThrow('no event');
  });

  it('settles at once what ended while its last claim was in flight, though other attempts continue', async () => {
    let finish = (): void => undefined;
    const { worker, store, add, next, find } = trialWorker({
      concurrency: 3,
      run: (job, context) =>
        job.id === 'long'
          ? untilStopped(job, context)
          : new Promise((resolve) => (finish = () => resolve({ kind: 'complete' }))),
    });
    await add('long');
    await add('short');
    await worker.start();
    await next('started', ({ job }) => job.id === 'short');
    const before = store.callsOf('claim').length;
    store.break(['claim'], 'late-reply', 1);
    worker.wake();
    await expect.poll(() => store.callsOf('claim').length).toBeGreaterThan(before);
    finish();
    void worker.stop();
    store.heal();
    await next('ended', ({ job }) => job.id === 'short');
    expect(await find('short')).toMatchObject({ state: 'done' });
    expect(await find('long')).toMatchObject({ state: 'running' });
  });

  it('can be done twice, and before the start', async () => {
    const { worker } = trialWorker();
    await worker.stop();
    await worker.stop();
    const other = await startWorker();
    await Promise.all([other.worker.stop(), other.worker.stop()]);
  });
});
