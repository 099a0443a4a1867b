/** qless's workers: whoever popped within `max-worker-age`, and the jobs it has, running and stalled. */
import type { WorkerRecord } from '../../core/ports/job-store.ts';
import type { Call, Command } from './arguments.ts';
import { textArgument } from './arguments.ts';
import { configNumber } from './config.ts';

export const workerCommands: Readonly<Record<string, Command>> = {
  workers: async (call, [worker]) => {
    const known = await call.longhaul.store.jobs.workers();
    if (worker !== undefined) {
      const [record] = known.filter(({ id }) => id === textArgument(worker, 'Workers', 'worker'));
      return record === undefined ? { jobs: [], stalled: [] } : jobsIn(call, record);
    }
    const oldest = call.nowMs - (await configNumber(call, 'max-worker-age')) * 1_000;
    const seen = known.filter(({ seenAt }) => seenAt > oldest).toSorted((a, b) => b.seenAt - a.seenAt);
    return Promise.all(seen.map((record) => summary(call, record)));
  },
  'worker.deregister': async (call, workers) => {
    for (const worker of workers) {
      const id = textArgument(worker, 'worker.deregister', 'worker');
      await call.longhaul.store.jobs.endWorker({ id, kind: 'deregister' });
    }
    return null;
  },
};

async function jobsIn(call: Call, { running }: WorkerRecord): Promise<Readonly<Record<string, readonly string[]>>> {
  const jobs = (await call.longhaul.store.jobs.find(running)).filter((job) => job !== null);
  const isStalled = (until: number | undefined): boolean => (until ?? 0) <= call.nowMs;
  return {
    jobs: jobs.filter(({ lease }) => !isStalled(lease?.until)).map(({ id }) => id),
    stalled: jobs.filter(({ lease }) => isStalled(lease?.until)).map(({ id }) => id),
  };
}

async function summary(call: Call, record: WorkerRecord): Promise<Readonly<Record<string, unknown>>> {
  const { jobs = [], stalled = [] } = await jobsIn(call, record);
  return { name: record.id, jobs: jobs.length, stalled: stalled.length };
}

/** A pop is a sign of life. */
export async function seeWorker(call: Call, id: string, queue: string): Promise<void> {
  const leaseMs = (await configNumber(call, 'max-worker-age')) * 1_000;
  const about = { host: '', pid: 0, queues: [queue], info: '{"door":"qless"}' };
  await call.longhaul.store.jobs.keepWorker({ id, leaseMs, kind: 'register', ...about });
}
