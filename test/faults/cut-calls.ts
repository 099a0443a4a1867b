/**
 * The four calls of a job's hot path, each with its preparation, a check whether it was done, and the expected result
 * after it was cut off and repeated. Every call gets a queue, a worker and ids of its own.
 */
import { expect } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import type { ClaimResult, JobStore, Settlement } from '../../src/core/ports/job-store.ts';

export interface CutCall {
  call(jobs: JobStore): Promise<unknown>;
  /** Whether the store has done it, read without the proxy. */
  isDone(): Promise<boolean>;
  /** Expects one outcome, however often the call was made. */
  verify(answer: unknown): Promise<void>;
}

/** `truth` is the same store without the proxy. */
export type MakeReady = (truth: JobStore, name: string) => Promise<CutCall>;

const LEASE_MS = 60_000;

async function running(truth: JobStore, name: string, count: number): Promise<readonly Job[]> {
  const ids = Array.from({ length: count }, (_, place) => `${name}-${place}`);
  await truth.add(ids.map((id) => ({ id, queue: name, data: '{}' })));
  const request = { worker: name, queues: [name], limit: count, leaseMs: LEASE_MS, requestId: 'ready' };
  return (await truth.claim(request)).jobs;
}

const eventsOf = async (truth: JobStore, id: string): Promise<readonly string[]> =>
  (await truth.history(id)).map(({ event }) => event);

const add: MakeReady = async (truth, name) => {
  const ids = [`${name}-0`, `${name}-1`, `${name}-2`];
  return {
    call: (jobs) => jobs.add(ids.map((id) => ({ id, queue: name, data: '{"a":1}' }))),
    isDone: async () => (await truth.find(ids)).some((job) => job !== null),
    verify: async (answer) => {
      expect(answer).toMatchObject(ids.map((id) => ({ ok: true, id, state: 'waiting' })));
      for (const id of ids) expect(await eventsOf(truth, id)).toEqual(['added']);
      expect(await truth.count([name])).toMatchObject([{ waiting: 3 }]);
    },
  };
};

const claim: MakeReady = async (truth, name) => {
  const ids = Array.from({ length: 5 }, (_, place) => `${name}-${place}`);
  await truth.add(ids.map((id) => ({ id, queue: name, data: '{}' })));
  const request = { worker: name, queues: [name], limit: 3, leaseMs: LEASE_MS, requestId: 'the-same' };
  const leases = (jobs: readonly (Job | null)[]) => jobs.map((job) => [job?.id, job?.attempt, job?.lease?.token]);
  return {
    call: (jobs) => jobs.claim(request),
    isDone: async () => (await truth.find(ids)).some((job) => job?.state === 'running'),
    verify: async (answer) => {
      const given = leases((answer as ClaimResult).jobs);
      expect(given.map(([id, attempt]) => [id, attempt])).toEqual(ids.slice(0, 3).map((id) => [id, 1]));
      expect(leases(await truth.find(ids.slice(0, 3)))).toEqual(given);
      expect(leases((await truth.claim(request)).jobs)).toEqual(given);
      expect(await truth.count([name])).toMatchObject([{ running: 3, waiting: 2 }]);
      for (const id of ids.slice(0, 3)) expect(await eventsOf(truth, id)).toEqual(['added', 'claimed']);
    },
  };
};

const heartbeat: MakeReady = async (truth, name) => {
  const [job] = await running(truth, name, 1);
  const { id = '', lease } = job ?? {};
  const token = lease?.token ?? 0;
  const now = async () => (await truth.find([id]))[0];
  return {
    call: (jobs) => jobs.heartbeat([{ id, token, checkpoint: '{"at":7}', progress: { percent: 40, text: 'pass 1' } }]),
    isDone: async () => (await now())?.checkpoint !== null,
    verify: async (answer) => {
      expect(answer).toMatchObject([{ ok: true, cancelAsked: false }]);
      const progress = { percent: 40, text: 'pass 1' };
      expect(await now()).toMatchObject({
        state: 'running',
        attempt: 1,
        checkpoint: '{"at":7}',
        progress,
        lease: { token },
      });
      expect(await eventsOf(truth, id)).toEqual(['added', 'claimed']);
    },
  };
};

const settle: MakeReady = async (truth, name) => {
  const jobs = await running(truth, name, 3);
  const failure = { group: 'boom', message: 'it broke', detail: null };
  const outcomes = [
    { kind: 'complete', result: '42' },
    { kind: 'fail', failure, delayMs: 0 },
    { kind: 'release', reason: 'drain' },
  ] as const;
  const settlements = outcomes.map((each, place) => {
    return { ...each, id: jobs[place]?.id ?? '', token: jobs[place]?.lease?.token ?? 0 } as Settlement;
  });
  const ids = settlements.map(({ id }) => id);
  return {
    call: (store) => store.settle(settlements),
    isDone: async () => (await truth.find(ids)).some((job) => job?.state !== 'running'),
    verify: async (answer) => {
      expect(answer).toMatchObject([{ state: 'done' }, { state: 'failed' }, { state: 'waiting' }]);
      expect((await truth.find(ids)).map((job) => job?.state)).toEqual(['done', 'failed', 'waiting']);
      expect((await truth.find(ids))[0]).toMatchObject({ result: '42' });
      const histories = await Promise.all(ids.map((id) => eventsOf(truth, id)));
      expect(histories).toEqual(['completed', 'failed', 'released'].map((event) => ['added', 'claimed', event]));
    },
  };
};

export const CUT_CALLS: Readonly<Record<string, MakeReady>> = { add, claim, heartbeat, settle };
