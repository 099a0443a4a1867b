/** The finer rules of durable steps, over a memory store with a clock that the test moves. */
import { afterEach, expect, test } from 'vitest';
import type { ActiveJob, Longhaul } from '../../src/library/index.ts';
import { StepTimeout, Suspended } from '../../src/library/index.ts';
import { connectForTests, type VirtualClock, waitFor } from '../../src/testing/index.ts';

const opened: Longhaul[] = [];
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);

function open(): { longhaul: Longhaul; clock: VirtualClock } {
  const connection = connectForTests();
  opened.push(connection.longhaul);
  return connection;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((longhaul) => longhaul.close()));
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const isSuspended = (longhaul: Longhaul, id: string) =>
  waitFor('the job is suspended', async () => (await longhaul.find(id))?.label === 'suspended');

const eventsOf = async (longhaul: Longhaul, id: string) => (await longhaul.history(id)).map(({ event }) => event);

test('A sleep of 5 s stays in the worker, and a longer one suspends.', async () => {
  const { longhaul, clock } = open();
  const queue = longhaul.queue<number, string>('q');
  queue.work(
    async (job) => {
      await job.sleep(job.data);
      return 'awake';
    },
    { concurrency: 2 },
  );
  const [short, long] = await queue.addAll([5_000, 5_001]);
  await isSuspended(longhaul, long?.id ?? '');
  await waitFor('it sleeps', async () => (await longhaul.steps(short?.id ?? '')).length === 1);
  await pause(30);
  expect(await longhaul.find(short?.id ?? '')).toMatchObject({ state: 'running' });
  await longhaul.cancel(short?.id ?? '');
  clock.advance(5_001);
  expect(await long?.finished()).toBe('awake');
});

test('The wake time is fixed at the first call, for later attempts and for a job that is woken early.', async () => {
  const { longhaul, clock } = open();
  const queue = longhaul.queue<null, number>('q');
  await queue.configure({ retries: 1, backoff: 0 });
  queue.work(async (job) => {
    await job.sleep('1h');
    if (job.attempt === 1) throw new Error('once');
    return job.attempt;
  });
  const until = clock.now() + 3_600_000;
  const job = await queue.add(null);
  await isSuspended(longhaul, job.id);
  clock.advance('30m');
  await longhaul.change(job.id, { runAt: clock.now() });
  await waitFor('it slept again', async () => (await eventsOf(longhaul, job.id)).at(-1) === 'suspended');
  await waitFor(
    'it waits',
    async () => (await eventsOf(longhaul, job.id)).filter((e) => e === 'suspended').length === 2,
  );
  expect(await longhaul.steps(job.id)).toMatchObject([{ kind: 'sleep', until }]);
  clock.advance('30m');
  // The second attempt does not sleep again.
  expect(await job.finished()).toBe(2);
});

test('After the suspension every call of the job rejects; its log and its progress still work.', async () => {
  const { longhaul } = open();
  const queue = longhaul.queue<null, unknown>('q');
  const seen: unknown[] = [];
  const reason = async (call: () => unknown): Promise<unknown> => {
    try {
      return await call();
    } catch (error) {
      return error instanceof Suspended;
    }
  };
  const callsOf = (job: ActiveJob<null>, files: ActiveJob['files']) => [
    () => job.step('x', () => 1),
    () => job.sleep(1),
    () => job.waitForEvent('x'),
    () => job.children([]),
    () => job.attach('a.txt', Buffer.from('a')),
    () => job.parents(),
    () => files.list(),
    () => files.get('a.txt'),
    () => job.checkpoint(1),
  ];
  queue.work(async (job) => {
    const { files } = job;
    try {
      await job.sleep('1d');
    } finally {
      job.log('cleaning up');
      job.progress(50);
      for (const call of callsOf(job, files)) seen.push(await reason(call));
    }
  });
  const job = await queue.add(null);
  await isSuspended(longhaul, job.id);
  expect(seen).toEqual(Array(9).fill(true));
  expect((await longhaul.steps(job.id)).map(({ kind }) => kind)).toEqual(['sleep']);
});

test('Steps that fail or are called after the suspension raise no unhandled rejection.', async () => {
  const { longhaul } = open();
  const queue = longhaul.queue<null, unknown>('q');
  process.on('unhandledRejection', onUnhandled);
  let later = 0;
  queue.work(async (job) => {
    const fails = async () => {
      await pause(20);
      throw new Error('too late to matter');
    };
    void job.step('in flight', fails);
    void job.step('tried again', fails, { retries: 1, backoff: 1 });
    try {
      await job.sleep('1d');
    } finally {
      void job.step('later', () => (later += 1));
      await pause(20);
    }
  });
  const job = await queue.add(null);
  await isSuspended(longhaul, job.id);
  await pause(10);
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled).toEqual([]);
  expect(later).toBe(0);
  const steps = await longhaul.steps(job.id);
  expect(steps.find(({ name }) => name === 'in flight')).toMatchObject({ status: 'failed', attempts: 1 });
  expect(await longhaul.find(job.id)).toMatchObject({ failures: 0 });
});

test('A step inside a step is refused with a clear error.', async () => {
  const { longhaul } = open();
  const queue = longhaul.queue<null, unknown>('q');
  queue.work((job) => job.step('outer', () => job.step('inner', () => 1)));
  await expect(queue.run(null)).rejects.toThrow('job.step() was called inside step outer: call it between steps');
});

test('maxRuntime counts the parts of an attempt that ran, and not its waits.', async () => {
  const { longhaul, clock } = open();
  const queue = longhaul.queue<number, string>('q');
  await queue.configure({ maxRuntime: '1h', retries: 0 });
  queue.work(async (job) => {
    await job.step('work', () => clock.advance(job.data));
    await job.waitForEvent('go');
    await job.step('more work', () => pause(30));
    return 'done';
  });
  const ends: string[] = [];
  for (const minutes of [59, 61]) {
    const job = await queue.add(minutes * 60_000);
    await isSuspended(longhaul, job.id);
    clock.advance('2h');
    await longhaul.notify(job.id, 'go');
    ends.push(await job.finished().catch((error: Error) => error.message));
  }
  expect(ends).toEqual(['done', expect.stringContaining('it ran longer than 3600 s')]);
});

test('Children in the queue of their parent run while it waits: it holds no slot.', async () => {
  const { longhaul } = open();
  const queue = longhaul.queue<number, unknown>('q');
  await queue.configure({ maxRunning: 1 });
  queue.work(
    async (job) => {
      if (job.data > 0) return job.data;
      const results = await job.children([1, 2].map((data) => ({ queue: 'q', data })));
      return results.map(({ id, result }) => [id, result]);
    },
    { concurrency: 1 },
  );
  const job = await queue.add(0, { id: 'parent' });
  expect(await job.finished()).toEqual([
    ['parent.children.1', 1],
    ['parent.children.2', 2],
  ]);
});

test('The rule for failed dependencies applies to children that failed while their parent was interrupted.', async () => {
  const { longhaul } = open();
  const parts = longhaul.queue<null>('parts');
  await parts.configure({ retries: 0 });
  parts.work(() => Promise.reject(new Error('broken')));
  const queue = longhaul.queue<null, unknown>('q');
  const ends: unknown[] = [];
  for (const rule of ['fail', 'run'] as const) {
    const job = await queue.add(null, { id: rule, onDependencyFailed: rule });
    await interruptChildren(longhaul, job.id);
    const work = queue.work(async (each) => {
      const children = await each.children([{ queue: 'parts', data: null }]);
      return children.map(({ state, failure }) => [state, failure]);
    });
    ends.push(await job.finished().catch((error: Error) => error.message));
    await work.stop();
  }
  expect(ends).toEqual(['job fail failed: job fail.children.1 failed', [['failed', 'broken']]]);
});

/** Begins `children` as an attempt does that ends before it is suspended. The child fails meanwhile. */
async function interruptChildren(longhaul: Longhaul, id: string): Promise<void> {
  const { jobs } = longhaul.store;
  const [held] = (await jobs.claim({ queues: ['q'], worker: 'w', limit: 1, requestId: id })).jobs;
  const token = held?.lease?.token ?? 0;
  await jobs.keepSteps([{ id, token, kind: 'children', name: 'children', status: 'waiting' }]);
  const child = await longhaul.queue<null>('parts').add(null, { id: `${id}.children.1` });
  await child.finished().catch(() => undefined);
  await jobs.settle([{ id, token, kind: 'release', reason: 'interrupted' }]);
}

test('A wait that times out after it was suspended throws StepTimeout in the resumed attempt.', async () => {
  const { longhaul, clock } = open();
  const queue = longhaul.queue<null, unknown>('q');
  queue.work(async (job) => {
    const error = await job.waitForEvent('go', { timeout: '7d' }).catch((each: unknown) => each);
    if (!(error instanceof StepTimeout)) throw error;
    return [job.attempt, error.message];
  });
  const job = await queue.add(null);
  await isSuspended(longhaul, job.id);
  clock.advance('7d');
  expect(await job.finished()).toEqual([1, 'event go did not arrive in time']);
});

test('A job that has all the steps it may have fails with a clear error, before the next step runs.', async () => {
  const { longhaul } = open();
  const queue = longhaul.queue<null, unknown>('q');
  await queue.configure({ retries: 1, backoff: 0 });
  let runs = 0;
  queue.work(async (job) => {
    for (let n = 0; n <= 1_000; n += 1) await job.step('s', () => ++runs);
  });
  await expect(queue.run(null)).rejects.toThrow(/cannot keep the step: it has 1000 steps already/);
  expect(runs).toBe(1_000);
});
