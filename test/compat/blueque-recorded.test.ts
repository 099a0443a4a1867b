/** Blueque's compat layer gives the answers that Blueque 1.0.0 gave (recorded/recordings.ts), but for the differences listed here. */
import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { Client } from '../../src/compat/blueque/index.ts';
import type { Longhaul } from '../../src/library/index.ts';
import type { BluequeHost } from './originals/blueque-program.ts';
import { NO_PROCESS, runProgram } from './originals/blueque-program.ts';
import { overStores } from './over-stores.ts';
import { recordedBlueque } from './recorded/recordings.ts';
import { withDifferences } from './recorded/with-differences.ts';

const ANEW = 'an orphan that was only reserved is reserved anew, for the listener that takes it';
const reserved = {
  id: '<task 10>',
  queue: 'f',
  parameters: 'PARAMETERS',
  error: null,
  node: '<this listener>',
  created: true,
  eta: false,
};
const DIFFERENCES = {
  'an orphan that was only reserved, 3: orphan("f")': {
    answers: { ...reserved, status: 'reserved', result: null, pid: null, unchanged: false },
    because: ANEW,
  },
  'an orphan that was only reserved, 7: task("<task 10>")': {
    answers: { ...reserved, status: 'complete', result: 'RESULT', pid: NO_PROCESS, changed: true },
    because: ANEW,
  },
};

overStores('Blueque', (open) => {
  test('blueque recorded: every call answers as the original did', async () => {
    const answers = await runProgram(hostOurs(await open()));
    expect(answers).toEqual(withDifferences(recordedBlueque(), DIFFERENCES));
  });
});

function hostOurs(longhaul: Longhaul): BluequeHost {
  const client = new Client(longhaul);
  const listeners = new Map<string, ReturnType<Client['getListener']>>();
  const listener = (queue: string) => {
    const known = listeners.get(queue) ?? client.getListener(queue);
    listeners.set(queue, known);
    return known;
  };
  const processor = async (id: string) => client.getProcessor(await client.getTask(id));
  const methods: Readonly<Record<string, (...args: never[]) => unknown>> = {
    me: (queue: string) => listener(queue).id,
    enqueue: (queue: string, parameters: string) => client.getQueue(queue).enqueue(parameters),
    schedule: (queue: string, parameters: string, later: number) =>
      client.getQueue(queue).schedule(parameters, Date.now() / 1_000 + later),
    // The original answers nothing.
    due: (queue: string) =>
      client
        .getQueue(queue)
        .enqueueDueTasks()
        .then(() => null),
    listen: (queue: string) => listener(queue).listen(),
    orphan: (queue: string) => listener(queue).claimOrphan(),
    task: (id: string) => client.getTask(id),
    // The document promises the parameters; the original answers nothing.
    start: async (id: string, pid: number) => (await processor(id)).start(pid).then(() => null),
    complete: async (id: string, result: string) => (await processor(id)).complete(result),
    fail: async (id: string, error: string) => (await processor(id)).fail(error),
    delete: async (queue: string, id: string) => client.getQueue(queue).deleteTask(await client.getTask(id)),
    crash: (queue: string, pid: number | null) => crash(longhaul, queue, pid),
    lists: (queue: string) => lists(client, queue),
  };
  return { call: async (method, ...args) => (await methods[method]?.(...(args as never[]))) ?? null };
}

/** A listener of this host that reserves a task, starts it if a pid is given, and dies. */
async function crash({ store: { jobs } }: Longhaul, queue: string, pid: number | null): Promise<void> {
  const dead = spawnSync('true').pid;
  const worker = `${hostname()}_${dead}`;
  await jobs.keepWorker({
    id: worker,
    host: hostname(),
    pid: dead,
    queues: [queue],
    leaseMs: 60_000,
    info: '{}',
    kind: 'register',
  });
  const [job] = (await jobs.claim({ worker, queues: [queue], limit: 1, requestId: `${queue}-${dead}` })).jobs;
  const checkpoint = JSON.stringify({ node: worker, pid });
  if (pid !== null)
    await jobs.heartbeat([{ id: job?.id ?? '', token: job?.lease?.token ?? 0, started: { pid }, checkpoint }]);
}

async function lists(client: Client, name: string) {
  const queue = client.getQueue(name);
  const started = await queue.getStartedTasks();
  const running = (await client.longhaul()).store.jobs.list({
    queue: name,
    state: 'running',
    order: 'newest',
    limit: 9,
  });
  const holders = new Set((await running).jobs.map(({ lease }) => lease?.worker ?? ''));
  const reserved = await Promise.all([...holders].map((holder) => queue.getReservedTasks(holder)));
  return {
    pending: await queue.getPendingTasks(),
    reserved: reserved.flat(),
    scheduled: await queue.getScheduledTasks(),
    started: started.map(({ task }) => task),
    complete: await queue.getCompleteTasks(),
    failed: await queue.getFailedTasks(),
    listeners: (await queue.getListeners()).length,
  };
}
