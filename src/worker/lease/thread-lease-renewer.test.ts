import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../test/contract/open-sqlite.ts';
import { faultyStore } from '../../../test/support/faulty-store.ts';
import { startWorker, trialWorker } from '../../../test/support/trial-worker.ts';
import type { Store } from '../../core/ports/store.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { openSqliteStore, openWithEngine } from '../../stores/sqlite/open-sqlite-store.ts';
import type { AttemptRunner } from '../attempt/run-outcome.ts';

const untilStopped: AttemptRunner = (_job, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** A memory store that another thread can open: its calls come back here over a port. */
function openedTwice(options: { refuse?: boolean } = {}) {
  const memory = openMemoryStore();
  const calls: string[] = [];
  const serve = async (
    port: MessagePort,
    { number, name, argument }: { number: number; name: string; argument: never },
  ) => {
    calls.push(name);
    if (name === 'heartbeat') port.postMessage({ number, answer: await memory.jobs.heartbeat(argument) });
    if (name === 'keepWorker') port.postMessage({ number, answer: await memory.jobs.keepWorker(argument) });
  };
  const store: Store = {
    ...memory,
    describe: () => {
      const { port1, port2 } = new MessageChannel();
      ports.push(port1);
      port1.on('message', (call) => void serve(port1, call));
      const module = new URL('../../../test/fixtures/lease-renewer-store.mjs', import.meta.url).href;
      return { module, options: { port: port2, ...options }, transfer: [port2] };
    },
  };
  const tell = (message: object) => ports.at(-1)?.postMessage(message);
  return { store, calls, crash: () => tell({ crash: true }), block: (blockMs: number) => tell({ blockMs }) };
}

/** Keeps a checkpoint, then runs until it is stopped. */
const keepsHalf: AttemptRunner = async (job, context) => {
  await context.checkpoint('"half"');
  return await untilStopped(job, context);
};

/** Adds a job for `keepsHalf` and waits until its checkpoint is kept and its lease of 400 ms was renewed. */
async function expectRenewed({ add, next, find }: Awaited<ReturnType<typeof startWorker>>): Promise<void> {
  await add('a');
  const { job } = await next('started');
  await expect.poll(async () => (await find('a')).checkpoint).toBe('"half"');
  await expect.poll(async () => (await find('a')).lease?.until ?? 0).toBeGreaterThan(job.lease.until + 400);
}

describe('a lease renewer in its own thread', () => {
  it('registers the worker, renews its leases, and carries the updates of attempts', async () => {
    const { store, calls } = openedTwice();
    const trial = await startWorker({ store, leaseMs: 400, run: keepsHalf });
    await expectRenewed(trial);
    await expect.poll(async () => (await trial.find('a')).lease?.pid, { timeout: 3_000 }).toBe(process.pid);
    expect(calls.slice(0, 2)).toEqual(['opened', 'keepWorker']);
  });

  it('that is blocked loses the leases, and their attempts are stopped before', async () => {
    const { store, block } = openedTwice();
    const trial = await startWorker({ store, leaseMs: 400, onUnreachable: 'stop', run: keepsHalf });
    await expectRenewed(trial);
    block(2_000);
    expect(await trial.next('stopping')).toMatchObject({ reason: 'unreachable' });
    expect((await trial.find('a')).lease?.until).toBeGreaterThan(Date.now());
  });

  it('that can renew the leases has no attempt stopped', async () => {
    const { store } = openedTwice();
    const trial = await startWorker({ store, leaseMs: 400, onUnreachable: 'stop', run: keepsHalf });
    await expectRenewed(trial);
    await expect(trial.next('stopping', undefined, 800)).rejects.toThrow('no event');
  });

  it('has the store keep a checkpoint before its attempt is settled', async () => {
    const { store } = openedTwice();
    const found: (string | null)[] = [];
    const { add, next } = await startWorker({
      store,
      run: async ({ checkpoint, failures }, context) => {
        found.push(checkpoint);
        for (const step of [1, 2, 3]) void context.checkpoint(`${failures}.${step}`);
        throw new Error('on purpose');
      },
    });
    const backoff = { kind: 'fixed', delayMs: 0, maxMs: 0, jitter: 0, delaysMs: [] } as const;
    await add('a', { policy: { retries: 2, backoff } });
    for (const _ of [1, 2, 3]) await next('ended');
    expect(found).toEqual([null, '0.3', '1.3']);
  });

  it('reports a cancel and a lost lease', async () => {
    const { store } = openedTwice();
    const { add, next } = await startWorker({ store, concurrency: 2, run: untilStopped });
    await add('a');
    await add('b');
    await next('started', ({ job }) => job.id === 'b');
    await store.jobs.cancel([{ id: 'a' }]);
    expect(await next('stopping')).toMatchObject({ job: { id: 'a' }, reason: 'cancel' });
    await store.jobs.move([{ id: 'b', queue: 'elsewhere', steal: true }]);
    expect(await next('stopping')).toMatchObject({ job: { id: 'b' }, reason: 'lease-lost' });
  });

  it('continues under the new id of a worker that was failed', async () => {
    const { store } = openedTwice();
    const { next, worker } = await startWorker({ store, leaseMs: 400 });
    await expect.poll(() => store.jobs.workers()).toHaveLength(1);
    await store.jobs.endWorker({ id: worker.id, kind: 'fail' });
    await next('restarted');
    await expect.poll(() => store.jobs.workers()).toMatchObject([{ id: worker.id }]);
  });

  it('is started again when it dies, and renews the leases as before', async () => {
    const { store, calls, crash } = openedTwice();
    const { add, next, find, worker } = await startWorker({ store, leaseMs: 2_000, run: untilStopped });
    await add('a');
    await next('started');
    crash();
    expect(await next('trouble')).toMatchObject({ what: 'the lease renewer' });
    await expect.poll(() => calls.filter((name) => name === 'opened').length, { timeout: 3_000 }).toBe(2);
    const { lease } = await find('a');
    await expect
      .poll(async () => (await find('a')).lease?.until ?? 0, { timeout: 3_000 })
      .toBeGreaterThan(lease?.until ?? 0);
    expect(worker.running()).toHaveLength(1);
  });

  it('reports why it cannot open the store', async () => {
    const { store } = openedTwice({ refuse: true });
    const { worker } = trialWorker({ store });
    await expect(worker.start()).rejects.toMatchObject({ code: 'store-unavailable', message: 'it is not there' });
    await worker.stop();
  });

  it('is one for all workers of a store, and closes it when the last of them stops', async () => {
    const { store, calls } = openedTwice();
    const shared = faultyStore(store);
    const [one, other] = [
      await startWorker({ store: shared }),
      await startWorker({ store: shared, run: untilStopped }),
    ];
    await expect.poll(() => store.jobs.workers()).toHaveLength(2);
    await one.worker.stop();
    await other.add('a');
    await other.next('started');
    expect(calls.filter((name) => name === 'opened')).toHaveLength(1);
    expect(calls).not.toContain('closed');
    await other.worker.stop({ force: true });
    await expect.poll(() => calls.at(-1)).toBe('closed');
  });
});

describe('a lease renewer in the thread of its store', () => {
  removeFoldersAtTheEnd();

  it('registers the worker, renews its leases, carries the updates of attempts, and starts no thread', async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    let threads = 0;
    const count = () => (threads += 1);
    process.on('worker', count);
    onTestFinished(() => void process.off('worker', count));
    const trial = await startWorker({ store, leaseMs: 400, run: keepsHalf });
    await expectRenewed(trial);
    const { worker } = trial;
    await expect.poll(() => store.jobs.workers()).toMatchObject([{ id: worker.id }]);
    expect(threads).toBe(0);
    await worker.stop({ force: true });
    await store.close();
  });

  it('renews short leases on time while other calls keep the thread busy', async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    const { add, next, find, worker, events } = await startWorker({ store, leaseMs: 4_000, run: untilStopped });
    await add('held');
    await next('started');
    const endAt = Date.now() + 2_500;
    const flood = async (name: string) => {
      for (let n = 0; Date.now() < endAt; n += 1) {
        const jobs = Array.from({ length: 200 }, (_, each) => ({
          id: `${name}-${n}-${each}`,
          queue: 'other',
          data: '1',
        }));
        await Promise.all([store.jobs.add(jobs), store.jobs.maintain({ limit: 1_000 }), store.jobs.count()]);
      }
    };
    let least = Number.POSITIVE_INFINITY;
    const watch = async () => {
      while (Date.now() < endAt) least = Math.min(least, ((await find('held')).lease?.until ?? 0) - Date.now());
    };
    await Promise.all([flood('a'), flood('b'), flood('c'), watch()]);
    // A heartbeat is due at a quarter of the lease; without one, less than half of it would be left.
    expect(least).toBeGreaterThan(2_000);
    expect(events.map(({ type }) => type)).not.toContain('store-away');
    await worker.stop({ force: true });
    await store.close();
  });

  it('reports the store as unavailable when its thread ends, and the worker still stops', async () => {
    const { store, engine } = await openWithEngine({ path: await aDatabasePath() });
    const { add, next, worker } = await startWorker({ store, run: untilStopped });
    await add('a');
    await next('started');
    await engine.terminate();
    expect(await next('store-away')).toMatchObject({ error: { code: 'store-closed' } });
    await worker.stop({ force: true });
    await expect(startWorker({ store })).rejects.toMatchObject({ code: 'store-unavailable' });
    await store.close();
  });

  it('does not keep the thread alive when the store closes before the worker stops', { timeout: 20_000 }, async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    const { add, next, worker } = await startWorker({ store, run: untilStopped });
    await add('a');
    await next('started');
    await store.close();
    await next('store-away');
    await worker.stop({ force: true });
  });
});
