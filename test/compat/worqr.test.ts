/** Worqr's operations and events, each named after it, over every store. */
import { afterEach, expect, test } from 'vitest';
import type { WorqrOptions } from '../../src/compat/worqr/index.ts';
import { Worqr } from '../../src/compat/worqr/index.ts';
import { connectForTests, waitFor } from '../../src/testing/index.ts';
import { overStores } from './over-stores.ts';

overStores('Worqr', (open) => {
  const all: Worqr[] = [];
  afterEach(async () => {
    await Promise.all(all.splice(0).map((each) => each.close()));
  });
  const peer = async (options: WorqrOptions = {}): Promise<Worqr> => {
    const worqr = new Worqr({ longhaul: await open() }, options);
    all.push(worqr);
    return worqr;
  };
  const worker = async (queue: string, options: WorqrOptions = {}): Promise<Worqr> => {
    const worqr = await peer(options);
    await worqr.startWorker();
    await worqr.startWork(queue);
    return worqr;
  };
  /** What a peer hears of a queue, as `type message`. */
  const heardBy = async (worqr: Worqr, queue: string): Promise<string[]> => {
    const heard: string[] = [];
    worqr.on(queue, (type: string, message: string) => heard.push(`${type} ${message}`));
    // An answered call: it listens by now.
    await worqr.countQueue(queue);
    return heard;
  };
  const start = async (worqr: Worqr, queue: string) => {
    const process = await worqr.dequeue(queue);
    if (process === null) throw new Error('there was no task');
    return process;
  };

  test('worqr enqueue: tasks are texts, one or many, first in, first out', async () => {
    const worqr = await worker('Q1');
    await worqr.enqueue('Q1', 'T0');
    await worqr.enqueue('Q1', ['T1', '{"not":"enveloped"}']);
    expect(await worqr.getTasks('Q1')).toEqual(['{"not":"enveloped"}', 'T1', 'T0']);
    expect((await start(worqr, 'Q1')).task).toBe('T0');
    await expect(worqr.enqueue('Q1', 7 as unknown as string)).rejects.toThrow('a task is a string');
  });

  test('worqr enqueue unique: a second one rejects, until the first has ended in any way', async () => {
    const worqr = await worker('Q1');
    await worqr.enqueue('Q1', 'same', true);
    await expect(worqr.enqueue('Q1', 'same', true)).rejects.toThrow('Trying to enqueue duplicate task in unique queue');
    await expect(worqr.enqueue('Q1', ['a', 'b'], true)).rejects.toThrow('Unique task array not currently supported');
    expect(await worqr.countQueue('Q1')).toBe(1);
    await worqr.cancelTasks('Q1', 'same');
    await worqr.enqueue('Q1', 'same', true);
    expect(await worqr.countQueue('Q1')).toBe(1);
    await worqr.enqueue('Q2', 'same', true);
    expect(await worqr.countQueue('Q2')).toBe(1);
    await worqr.finishProcess((await start(worqr, 'Q1')).id);
    await worqr.enqueue('Q1', 'same', true);
    expect(await worqr.countQueue('Q1')).toBe(1);
  });

  test('worqr getQueues, peekQueue, countQueue, getTasks: what waits', async () => {
    const worqr = await peer();
    expect([await worqr.getQueues(), await worqr.peekQueue('Q1'), await worqr.countQueue('Q1')]).toEqual([[], null, 0]);
    await worqr.enqueue('Q1', ['T0', 'T1']);
    expect(await worqr.getQueues()).toEqual(['Q1']);
    expect([await worqr.peekQueue('Q1'), await worqr.countQueue('Q1')]).toEqual(['T0', 2]);
    expect(await worqr.getTasks('Q1')).toEqual(['T1', 'T0']);
  });

  test('worqr deleteQueue: what waits is gone, and everybody is told', async () => {
    const [worqr, other] = [await peer(), await peer()];
    const heard = await heardBy(other, 'Q1');
    await worqr.enqueue('Q1', ['T0', 'T1']);
    await worqr.deleteQueue('Q1');
    expect(await worqr.countQueue('Q1')).toBe(0);
    await waitFor('the news', async () => heard.includes('delete ') || null);
    await other.enqueue('Q1', 'T2', true);
    expect(await worqr.getTasks('Q1')).toEqual(['T2']);
  });

  test('worqr startTask, dequeue: a task goes to one worker, and only to one that works on the queue', async () => {
    const [a, b] = [await worker('Q1'), await worker('Q1')];
    await a.enqueue('Q1', 'T0');
    const taken = await Promise.all([a.startTask('Q1'), b.dequeue('Q1')]);
    expect(taken.filter((each) => each !== null)).toEqual([{ id: expect.any(String), task: 'T0' }]);
    await expect(a.dequeue('Q2')).rejects.toThrow('has not started work on Q2');
  });

  test('worqr stopTask, stopProcess: the task goes back to the front', async () => {
    const worqr = await worker('Q1');
    await worqr.enqueue('Q1', ['T0', 'T1', 'T2']);
    const [first, second] = [await start(worqr, 'Q1'), await start(worqr, 'Q1')];
    await worqr.stopProcess(second.id);
    expect(await worqr.getTasks('Q1')).toEqual(['T2', 'T1']);
    await worqr.stopTask(first.id);
    expect((await worqr.getTasks('Q1')).toSorted()).toEqual(['T0', 'T1', 'T2']);
    expect((await worqr.getTasks('Q1'))[0]).toBe('T2');
  });

  test('worqr finishTask, finishProcess, done: everybody hears who did what, with the result', async () => {
    const [worqr, other] = [await worker('Q1', { workerId: 'W1' }), await peer()];
    const heard = await heardBy(other, 'Q1');
    await worqr.enqueue('Q1', ['T0', 'T1']);
    await worqr.finishProcess((await start(worqr, 'Q1')).id, { made: 1 });
    await worqr.finishTask((await start(worqr, 'Q1')).id);
    await waitFor('both', async () => heard.filter((each) => each.startsWith('done')).length === 2 || null);
    const told = heard.filter((each) => each.startsWith('done')).map((each) => JSON.parse(each.slice(5)) as unknown);
    expect(told).toEqual([
      { workerId: 'W1', task: 'T0', result: { made: 1 } },
      { workerId: 'W1', task: 'T1' },
    ]);
  });

  test('worqr finishProcess, stopProcess: nobody ends what another holds, or what is not there', async () => {
    const [a, b] = [await worker('Q1'), await worker('Q1')];
    await a.enqueue('Q1', 'T0');
    const { id } = await start(a, 'Q1');
    await expect(b.finishProcess(id)).rejects.toThrow("is not one of this worker's");
    await expect(b.stopProcess('no-such')).rejects.toThrow("is not one of this worker's");
    await a.finishProcess(id);
    await expect(a.finishProcess(id)).rejects.toThrow("is not one of this worker's");
  });

  test('worqr cancelTasks, cancel, getMatchingProcesses: all equal tasks; who runs one is told', async () => {
    const worqr = await worker('Q1');
    const heard = await heardBy(worqr, 'Q1');
    await worqr.enqueue('Q1', ['T1', 'T0', 'T1', 'T1']);
    const { id } = await start(worqr, 'Q1');
    await worqr.cancelTasks('Q1', 'T1');
    expect(await worqr.getTasks('Q1')).toEqual(['T0']);
    await waitFor('the news', async () => heard.includes('cancel T1') || null);
    await worqr.enqueue('Q1', 'last');
    await waitFor('what comes after it', async () => heard.at(-1) === 'work 1' || null);
    expect(heard.filter((each) => each.startsWith('cancel'))).toEqual(['cancel T1']);
    expect(await worqr.getMatchingProcesses('T1')).toEqual([id]);
    await worqr.finishProcess(id);
    expect(await worqr.getMatchingProcesses('T1')).toEqual([]);
    expect(await worqr.getTasks('Q1')).toEqual(['last', 'T0']);
  });

  test('worqr startWorker, getWorkers, getWorkerId: registered under a random id, or its own', async () => {
    const [a, b] = [await worker('Q1'), await worker('Q1', { workerId: 'W7' })];
    expect(b.getWorkerId()).toBe('W7');
    expect(a.getWorkerId()).toMatch(/^[0-9a-f-]{36}$/);
    expect((await a.getWorkers()).toSorted()).toEqual([a.getWorkerId(), 'W7'].toSorted());
  });

  test('worqr startWork, requestWork, work: told of work that is there and of work that comes', async () => {
    const worqr = await peer();
    const heard = await heardBy(worqr, 'Q1');
    await worqr.enqueue('Q1', ['T0', 'T1']);
    await expect(worqr.startWork('Q1')).rejects.toThrow('startWorker()');
    await worqr.startWorker();
    await worqr.startWork('Q1');
    await waitFor('what is there', async () => heard.includes('work 2') || null);
    await (await peer()).enqueue('Q1', 'T2');
    await waitFor('what comes', async () => heard.includes('work 1') || null);
    heard.length = 0;
    await worqr.requestWork('Q1');
    expect(heard).toEqual(['work 3']);
  });

  test('worqr stopWork: what it had of the queue goes back, and no other queue', async () => {
    const worqr = await worker('Q1');
    await worqr.startWork('Q2');
    await worqr.enqueue('Q1', 'T0');
    await worqr.enqueue('Q2', 'T1');
    await start(worqr, 'Q1');
    const { id } = await start(worqr, 'Q2');
    await worqr.stopWork('Q1');
    expect([await worqr.countQueue('Q1'), await worqr.countQueue('Q2')]).toEqual([1, 0]);
    await expect(worqr.dequeue('Q1')).rejects.toThrow('has not started work');
    await worqr.finishProcess(id);
  });

  test('worqr failWorker: its tasks alone come back, to the front, and are announced', async () => {
    const [a, b] = [await worker('Q1', { workerId: 'A' }), await worker('Q1', { workerId: 'B' })];
    await a.enqueue('Q1', ['T0', 'T1', 'T2']);
    await start(a, 'Q1');
    const held = await start(b, 'Q1');
    const heard = await heardBy(b, 'Q1');
    await a.failWorker();
    await waitFor('the news', async () => heard.includes('work 2') || null);
    expect(await b.getTasks('Q1')).toEqual(['T2', 'T0']);
    expect(await b.getWorkers()).toEqual(['B']);
    await b.finishProcess(held.id);
    const again = await start(b, 'Q1');
    await b.failWorker('B');
    expect(await a.getTasks('Q1')).toEqual(['T2', again.task]);
  });

  test('worqr keepWorkerAlive: a lost worker drops its tasks and registers again', async () => {
    const worqr = await worker('Q1', { workerId: 'W1', workerHeartbeatInterval: 60_000 });
    const troubles: unknown[] = [];
    worqr.on('error', (error) => troubles.push(error));
    await worqr.enqueue('Q1', 'T0');
    const { id } = await start(worqr, 'Q1');
    await (await open()).failWorker('W1');
    await worqr.keepWorkerAlive();
    expect(troubles).toEqual([expect.objectContaining({ message: expect.stringContaining('has registered again') })]);
    await expect(worqr.finishProcess(id)).rejects.toThrow("is not one of this worker's");
    expect(await worqr.getWorkers()).toEqual(['W1']);
    expect((await start(worqr, 'Q1')).task).toBe('T0');
  });

  test('worqr worker timers: a silent worker is failed and its tasks go to another', async () => {
    const silent = await worker('Q1', { workerTimeout: 0.2, workerHeartbeatInterval: 60_000 });
    await silent.enqueue('Q1', 'T0');
    await start(silent, 'Q1');
    const other = await worker('Q1', { workerCleanupInterval: 50 });
    const taken = await waitFor('the task', () => other.dequeue('Q1'));
    expect(taken.task).toBe('T0');
    await waitFor('the end of it', async () => (await other.getWorkers()).length === 1 || null);
  });

  test('worqr permanent worker: a negative time-out never runs out', async () => {
    const worqr = await worker('Q1', { workerTimeout: -1, workerHeartbeatInterval: 60_000 });
    await worqr.cleanupWorkers();
    const [record] = await (await open()).workers();
    expect((record?.until ?? 0) - Date.now()).toBeGreaterThan(300 * 86_400_000);
  });

  test('worqr debug: what runs, and for how long', async () => {
    const worqr = await worker('Q1', { debugMode: true, debugInterval: 10 });
    await worqr.enqueue('Q1', 'T0');
    const { id } = await start(worqr, 'Q1');
    const seen: unknown[] = [];
    worqr.on('debug', (what) => seen.push(what));
    await waitFor('a word', async () => seen.length > 0 || null);
    expect(seen.at(-1)).toEqual({ jobCount: 1, jobs: { [id]: { time: expect.any(Number) } } });
  });
});

test('worqr constructor: ready-made clients are refused with what to give instead', () => {
  expect(() => new Worqr({ data: {}, subscribe: {} })).toThrow('give host, port and password');
});

test('worqr error: a store that is not there is told, and every call rejects', async () => {
  const worqr = new Worqr({ url: 'nothing://there' });
  const told = new Promise((resolve) => worqr.once('error', resolve));
  await expect(worqr.startWorker()).rejects.toThrow('is none of');
  expect(await told).toMatchObject({ code: 'bad-input' });
  await worqr.close();
});

test('worqr maintenance: finished tasks are deleted after ten seconds, without a worker or node of Longhaul', async () => {
  const { longhaul, clock } = connectForTests();
  const worqr = new Worqr({ longhaul }, { workerCleanupInterval: 20 });
  await worqr.startWorker();
  await worqr.startWork('Q1');
  await worqr.enqueue('Q1', 'T0');
  const process = await worqr.dequeue('Q1');
  await worqr.finishProcess(process?.id ?? '');
  const countDone = async () => (await longhaul.queue('Q1').count()).done;
  expect(await countDone()).toBe(1);
  clock.advance('11s');
  await waitFor('the task to be deleted', async () => (await countDone()) === 0);
  await worqr.close();
  await longhaul.close();
});
