/** Blueque's objects and calls, each named after it, over every store. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Task } from '../../src/compat/blueque/index.ts';
import { Client, ForkingRunner } from '../../src/compat/blueque/index.ts';
import type { Longhaul } from '../../src/library/index.ts';
import { waitFor } from '../../src/testing/index.ts';
import { overStores } from './over-stores.ts';

const me = `${hostname()}_${process.pid}`;
/** A process of this host that is no more. */
const deadPid = (): number => spawnSync('true').pid;

/** What a listener that died had reserved, and started when a pid is given. */
async function orphanOf(longhaul: Longhaul, id: string, pid: number | null): Promise<void> {
  const worker = `${hostname()}_${deadPid()}`;
  const { jobs } = longhaul.store;
  const claimed = await jobs.claim({ worker, queues: ['q'], limit: 1, requestId: `r-${id}` });
  expect(claimed.jobs.map((job) => job.id)).toEqual([id]);
  const token = claimed.jobs[0]?.lease?.token ?? 0;
  if (pid !== null) await jobs.heartbeat([{ id, token, started: { pid } }]);
}

overStores('Blueque', (open) => {
  const client = async (): Promise<Client> => new Client(await open());
  const reserved = async (c: Client, parameters = 'p'): Promise<Task> => {
    await c.getQueue('q').enqueue(parameters);
    return c.getListener('q').listen();
  };

  test('blueque Client: makes queues, tasks, listeners and processors; an unknown task has nothing', async () => {
    const c = await client();
    expect(await c.getTask('no-such')).toEqual({
      id: 'no-such',
      status: null,
      queue: null,
      parameters: null,
      result: null,
      error: null,
      node: null,
      pid: null,
      created: null,
      updated: null,
      eta: null,
      token: null,
    });
  });

  test('blueque Queue.enqueue: answers an id; the task is pending with its parameters as they are', async () => {
    const c = await client();
    const before = Date.now() / 1_000;
    const id = await c.getQueue('q').enqueue('{"any": "text"}');
    const task = await c.getTask(id);
    expect(task).toMatchObject({
      id,
      status: 'pending',
      queue: 'q',
      parameters: '{"any": "text"}',
      node: null,
      pid: null,
    });
    expect(task.created).toBeGreaterThan(before - 5);
    expect(task.updated).toBeGreaterThanOrEqual(task.created ?? Number.NaN);
    await expect(c.getQueue('q').enqueue({} as unknown as string)).rejects.toThrow('parameters are a string');
  });

  test('blueque Queue.schedule, enqueueDueTasks: scheduled until its eta, then pending by itself', async () => {
    const c = await client();
    const queue = c.getQueue('q');
    // Long enough for two calls on a busy machine.
    const eta = Date.now() / 1_000 + 2;
    const id = await queue.schedule('later', eta);
    expect(await c.getTask(id)).toMatchObject({ status: 'scheduled', eta: Math.round(eta * 1_000) / 1_000 });
    expect(await queue.enqueueDueTasks()).toEqual([]);
    await waitFor('its time', async () => (await c.getTask(id)).status === 'pending' || null);
    expect(await queue.enqueueDueTasks()).toEqual([id]);
    const past = await queue.schedule('past', Date.now() / 1_000 - 60);
    expect(await c.getTask(past)).toMatchObject({ status: 'pending', eta: null });
    await expect(queue.schedule('never', Number.NaN)).rejects.toThrow('seconds since 1970');
  });

  test('blueque Listener.listen: waits for a task, reserves it for this listener alone', async () => {
    const c = await client();
    const heard: string[] = [];
    const listening = c.getListener('q').listen((task) => heard.push(task.id));
    const id = await c.getQueue('q').enqueue('p');
    const task = await listening;
    expect(task).toMatchObject({ id, status: 'reserved', node: me, pid: null });
    expect(heard).toEqual([id]);
    await expect(c.getListener('q').listen(undefined, { signal: AbortSignal.timeout(50) })).rejects.toThrow('aborted');
  });

  test('blueque Processor.start, complete: parameters, pid, result', async () => {
    const c = await client();
    const task = await reserved(c, 'x=1');
    const processor = c.getProcessor(task);
    expect(await processor.start(4_711)).toBe('x=1');
    expect(await c.getTask(task.id)).toMatchObject({ status: 'started', pid: 4_711, node: me });
    expect(await c.getQueue('q').getStartedTasks()).toEqual([{ listener: me, pid: 4_711, task: task.id }]);
    await processor.complete('some result');
    expect(await c.getTask(task.id)).toMatchObject({
      status: 'complete',
      result: 'some result',
      error: null,
      node: me,
      pid: 4_711,
    });
  });

  test('blueque Processor.fail: the error is kept, and nothing is tried again', async () => {
    const c = await client();
    const task = await reserved(c);
    await c.getProcessor(task).start(1);
    await c.getProcessor(task).fail('some error');
    expect(await c.getTask(task.id)).toMatchObject({ status: 'failed', error: 'some error', result: null });
  });

  test('blueque guards: a task ends once, only when it was started, and only by who reserved it', async () => {
    const c = await client();
    const task = await reserved(c);
    const processor = c.getProcessor(task);
    await expect(processor.complete('early')).rejects.toThrow('only a started one can end');
    await processor.start(1);
    await expect(processor.start(2)).rejects.toThrow('only a reserved one can be started');
    await processor.complete('once');
    await expect(processor.complete('twice')).rejects.toThrow('is complete');
    await expect(processor.fail('late')).rejects.toThrow('is complete');
    const id = await c.getQueue('q').enqueue('p');
    await expect(c.getProcessor(await c.getTask(id)).start(1)).rejects.toThrow('is pending');
  });

  test('blueque Queue.deleteTask: complete and failed ones of this queue, and no others', async () => {
    const c = await client();
    const queue = c.getQueue('q');
    const task = await reserved(c);
    await expect(queue.deleteTask(task)).rejects.toThrow('is reserved: only a complete or failed one');
    await c.getProcessor(task).start(1);
    await c.getProcessor(task).complete('');
    await expect(c.getQueue('other').deleteTask(task)).rejects.toThrow('is not in queue other');
    await queue.deleteTask(task);
    expect((await c.getTask(task.id)).status).toBeNull();
    await expect(queue.deleteTask(task)).rejects.toThrow('is not in queue q');
  });

  test('blueque lists: tasks of a queue, listeners, queues with how many listen', async () => {
    const c = await client();
    const queue = c.getQueue('q');
    const ids = [await queue.enqueue('1'), await queue.enqueue('2')];
    await c.getQueue('idle').enqueue('3');
    const listener = c.getListener('q');
    await listener.listen();
    expect((await queue.getTasks()).toSorted()).toEqual(ids.toSorted());
    expect(await queue.getListeners()).toEqual([me]);
    expect((await c.getQueues()).toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { name: 'idle', listeners: 0 },
      { name: 'q', listeners: 1 },
    ]);
    await listener.close();
    expect(await queue.getListeners()).toEqual([]);
  });

  test('blueque Listener.claimOrphan: what a dead listener had only reserved is reserved anew', async () => {
    const [c, longhaul] = [await client(), await open()];
    const id = await c.getQueue('q').enqueue('p');
    await c.made('q');
    await orphanOf(longhaul, id, null);
    await c.getQueue('q').enqueue('another');
    expect(await c.getListener('q').claimOrphan()).toMatchObject({ id, status: 'reserved', node: me });
    expect(await c.getListener('q').claimOrphan()).toBeNull();
  });

  test('blueque Listener.claimOrphan: what was started is offered once, whether its process lives or not', async () => {
    const [c, longhaul] = [await client(), await open()];
    for (const pid of [deadPid(), process.pid]) {
      const id = await c.getQueue('q').enqueue('p');
      await orphanOf(longhaul, id, pid);
      expect(await c.getListener('q').claimOrphan()).toMatchObject({ id, status: 'started', pid });
      expect(await c.getListener('q').claimOrphan()).toBeNull();
      expect((await c.getTask(id)).status).toBe('started');
    }
  });

  test('blueque Listener.claimOrphan: with orphans fail, what was started fails when its process is gone', async () => {
    const longhaul = await open();
    const c = new Client(longhaul, { orphans: 'fail' });
    const gone = await c.getQueue('q').enqueue('p');
    await orphanOf(longhaul, gone, deadPid());
    expect(await c.getListener('q').claimOrphan()).toBeNull();
    expect(await c.getTask(gone)).toMatchObject({ status: 'failed', error: expect.stringContaining('is gone') });
    expect(() => new Client(longhaul, { orphans: 'ignore' as 'fail' })).toThrow('orphans: must be offer or fail');
  });

  test('blueque Task.eta, Task.updated: only a scheduled task has an eta, and every change moves updated', async () => {
    const [c, longhaul] = [await client(), await open()];
    const id = await c.getQueue('q').enqueue('p');
    await orphanOf(longhaul, id, null);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const reserved = await c.getListener('q').claimOrphan();
    expect(reserved).toMatchObject({ id, status: 'reserved', eta: null });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await c.getProcessor(await c.getTask(id)).start(1);
    expect((await c.getTask(id)).updated).toBeGreaterThan(reserved?.updated ?? Number.POSITIVE_INFINITY);
  });

  test('blueque lists: pending, reserved by a listener, scheduled, complete and failed, in the order of the documented lists', async () => {
    const c = await client();
    const queue = c.getQueue('q');
    const ids: string[] = [];
    for (const each of ['1', '2', '3', '4']) ids.push(await queue.enqueue(each));
    const [later, soon] = [
      await queue.schedule('x', Date.now() / 1_000 + 900),
      await queue.schedule('y', Date.now() / 1_000 + 60),
    ];
    expect(await queue.getPendingTasks()).toEqual(ids.toReversed());
    expect(await queue.getScheduledTasks()).toEqual([soon, later]);
    const [one, two] = [await c.getListener('q').listen(), await c.getListener('q').listen()];
    expect(await queue.getReservedTasks(me)).toEqual([two.id, one.id]);
    expect(await queue.getReservedTasks('another')).toEqual([]);
    for (const task of [one, two]) {
      await c.getProcessor(task).start(1);
      await (task === one ? c.getProcessor(task).complete('r') : c.getProcessor(task).fail('e'));
    }
    expect([await queue.getCompleteTasks(), await queue.getFailedTasks()]).toEqual([[one.id], [two.id]]);
    expect(await queue.getReservedTasks(me)).toEqual([]);
  });

  test('blueque lists: getListeners lists the living, from their creation on', async () => {
    const [c, longhaul] = [await client(), await open()];
    const dead = deadPid();
    const about = {
      host: hostname(),
      pid: dead,
      queues: ['q'],
      leaseMs: 60_000,
      info: '{}',
      kind: 'register',
    } as const;
    await longhaul.store.jobs.keepWorker({ id: `${hostname()}_${dead}`, ...about });
    expect(await c.getQueue('q').getListeners()).toEqual([]);
    const [listener, other] = [c.getListener('q'), c.getListener('r')];
    expect([await c.getQueue('q').getListeners(), await c.getQueue('r').getListeners()]).toEqual([[me], [me]]);
    await listener.close();
    expect([await c.getQueue('q').getListeners(), await c.getQueue('r').getListeners()]).toEqual([[], [me]]);
    await other.close();
  });
});

describe('blueque ForkingRunner', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-blueque-'));
  const callback = join(folder, 'callback.mjs');
  writeFileSync(
    callback,
    `import { writeFileSync } from 'node:fs';
export async function run(parameters, task) {
  if (parameters === 'throw') throw new Error('no luck');
  if (parameters === 'exit') process.exit(3);
  writeFileSync(${JSON.stringify(join(folder, 'session'))}, String(process.pid));
  return parameters.toUpperCase() + ' ' + (task.status);
}
`,
  );
  let client: Client;
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  afterEach(async () => {
    stopping.abort();
    await running;
    await client.close();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('blueque ForkingRunner: orphans first, then each task in a process of its own', {
    timeout: 60_000,
  }, async () => {
    client = new Client(join(folder, 'home'));
    const queue = client.getQueue('q');
    const orphan = await queue.enqueue('orphan');
    await orphanOf(await client.longhaul(), orphan, null);
    const ids = [orphan, ...(await Promise.all(['good', 'throw', 'exit'].map((each) => queue.enqueue(each))))];
    running = new ForkingRunner(client, 'q', callback).run({ signal: stopping.signal });
    const ended = async () => {
      const tasks = await Promise.all(ids.map((id) => client.getTask(id)));
      return tasks.every(({ status }) => status === 'complete' || status === 'failed') ? tasks : null;
    };
    const tasks = await waitFor('all of them', ended, { deadlineMs: 45_000 });
    expect(tasks.map(({ status, result, error }) => [status, result, error])).toEqual([
      ['complete', 'ORPHAN reserved', null],
      ['complete', 'GOOD reserved', null],
      ['failed', null, 'no luck'],
      ['failed', null, 'its process ended with exit code 3'],
    ]);
    expect(tasks[1]?.pid).toBe(Number(readFileSync(join(folder, 'session'), 'utf8')));
  });

  test('blueque ForkingRunner: needs an address, since its processes open the store themselves', async () => {
    client = new Client('memory:');
    const shared = new Client(await client.longhaul());
    expect(() => new ForkingRunner(shared, 'q', callback)).toThrow('opened by its address');
  });
});
