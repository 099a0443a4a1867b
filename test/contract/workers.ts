/** Workers: their registration, and what happens to their jobs when they are failed or expire. */
import { expect, it } from 'vitest';
import type { WorkerHeartbeat } from '../../src/core/ports/job-store.ts';
import { WORKER_TTL_MS } from '../../src/core/settings/settings.ts';
import type { Open } from './contract.ts';
import { complete, LEASE_MS, outcomeOf, START } from './workbench.ts';

const aBeat = (beat: Partial<WorkerHeartbeat> = {}): WorkerHeartbeat => ({
  id: 'w',
  host: 'host-1',
  pid: 42,
  queues: ['q', 'second'],
  leaseMs: 1_000,
  info: '{"v":1}',
  kind: 'register',
  ...beat,
});

export function workerContract(open: Open): void {
  it('are listed with their registration and their running jobs', async () => {
    const bench = await open();
    expect(await bench.jobs.keepWorker(aBeat())).toEqual({ ok: true, until: START + 1_000 });
    await bench.jobs.keepWorker(aBeat({ id: 'a', info: '{}', queues: [] }));
    await bench.add({ id: 'x' }, { id: 'y', queue: 'second' });
    await bench.claim({ queues: ['q', 'second'] });
    const facts = { host: 'host-1', pid: 42, registeredAt: START, seenAt: START, until: START + 1_000, isLost: false };
    const [first, second] = await bench.jobs.workers();
    expect(first).toEqual({ ...facts, id: 'a', queues: [], info: '{}', running: [] });
    expect(second).toEqual({ ...facts, id: 'w', queues: ['q', 'second'], info: '{"v":1}', running: expect.any(Array) });
    expect([...(second?.running ?? [])].sort()).toEqual(['x', 'y']);
  });

  it('renew their registration and keep its start', async () => {
    const bench = await open();
    await bench.jobs.keepWorker(aBeat());
    bench.pass(900);
    expect(await bench.jobs.keepWorker(aBeat({ kind: 'renew', info: '{"v":2}' }))).toEqual({
      ok: true,
      until: START + 1_900,
    });
    bench.pass(100);
    expect(await bench.jobs.workers()).toMatchObject([
      { id: 'w', registeredAt: START, seenAt: START + 900, info: '{"v":2}', isLost: false },
    ]);
  });

  it('are lost when their registration has expired, and back when they renew it', async () => {
    const bench = await open();
    await bench.jobs.keepWorker(aBeat());
    bench.pass(1_000);
    expect(await bench.jobs.workers()).toMatchObject([{ id: 'w', isLost: true }]);
    expect(outcomeOf(await bench.jobs.keepWorker(aBeat({ kind: 'renew' })))).toBe('ok');
    expect(await bench.jobs.workers()).toMatchObject([{ id: 'w', isLost: false }]);
  });

  it('cannot renew a registration that was never made or was ended', async () => {
    const bench = await open();
    const renew = () => bench.jobs.keepWorker(aBeat({ kind: 'renew' }));
    expect(outcomeOf(await renew())).toBe('worker-lost');
    await bench.jobs.keepWorker(aBeat());
    expect(outcomeOf(await renew())).toBe('ok');
    await bench.jobs.endWorker({ id: 'w', kind: 'fail' });
    expect(outcomeOf(await renew())).toBe('worker-lost');
    await bench.jobs.keepWorker(aBeat());
    await bench.jobs.endWorker({ id: 'w', kind: 'deregister' });
    expect(outcomeOf(await renew())).toBe('worker-lost');
    expect(await bench.jobs.workers()).toEqual([]);
  });

  it('return all their jobs at once when they are failed, as crashes and in their order', async () => {
    const bench = await open();
    await bench.jobs.keepWorker(aBeat());
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c', queue: 'second' }, { id: 'd' });
    const [a] = await bench.claim({ limit: 2, leaseMs: 5_000 });
    await bench.claim({ queues: ['second'] });
    await bench.claimOne({ worker: 'other' });
    bench.pass(10);
    await bench.heartbeat(a!);
    expect(await bench.jobs.endWorker({ id: 'w', kind: 'fail' })).toEqual({ ok: true, returned: 3 });
    expect(await bench.states('a', 'b', 'c', 'd')).toEqual(['waiting', 'waiting', 'waiting', 'running']);
    expect(await bench.job('a')).toMatchObject({ crashes: 1, returnedAt: bench.now, runAt: bench.now });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({
      event: 'lost',
      by: 'w',
      note: 'its worker was failed',
    });
    expect(outcomeOf(await bench.settle(a!, complete))).toBe('lease-lost');
    expect(await bench.claimIds({ worker: 'other', queues: ['q', 'second'] })).toEqual(['a', 'b', 'c']);
  });

  it('can be failed by their running jobs alone, without a registration', async () => {
    const bench = await open();
    await bench.running({ id: 'a' });
    expect(await bench.jobs.endWorker({ id: 'w', kind: 'fail' })).toEqual({ ok: true, returned: 1 });
    expect(outcomeOf(await bench.jobs.endWorker({ id: 'w', kind: 'fail' }))).toBe('worker-lost');
  });

  it('are failed by the rules of the queue', async () => {
    const bench = await open();
    await bench.setQueue('fail', { onLost: 'fail' });
    await bench.setQueue('hold', { onLost: 'hold' });
    await bench.setQueue('count', { lostCountsAs: 'failure', exhaustedGroup: 'x' });
    for (const queue of ['fail', 'hold', 'count']) await bench.running({ id: queue, queue });
    await bench.jobs.endWorker({ id: 'w', kind: 'fail' });
    expect(await bench.job('fail')).toMatchObject({ state: 'failed', failure: { message: 'its worker was failed' } });
    expect(await bench.job('hold')).toMatchObject({ state: 'waiting', crashes: 1 });
    expect(await bench.job('count')).toMatchObject({ state: 'failed', failures: 1, failure: { group: 'x' } });
  });

  it('keep their leases when they deregister, until these expire', async () => {
    const bench = await open();
    await bench.jobs.keepWorker(aBeat());
    const job = await bench.running({ id: 'a' });
    expect(await bench.jobs.endWorker({ id: 'w', kind: 'deregister' })).toEqual({ ok: true, returned: 0 });
    expect(outcomeOf(await bench.jobs.endWorker({ id: 'w', kind: 'deregister' }))).toBe('worker-lost');
    expect(await bench.heartbeat(job)).toMatchObject({ ok: true });
    bench.pass(LEASE_MS);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
  });

  it('have no claim to repeat once they were ended', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    expect(await bench.claimIds({ requestId: 'r', limit: 1 })).toEqual(['a']);
    await bench.jobs.keepWorker(aBeat());
    await bench.jobs.endWorker({ id: 'w', kind: 'deregister' });
    expect(await bench.claimIds({ requestId: 'r', limit: 1 })).toEqual(['b']);
  });

  it('are deleted a day after their registration expired', async () => {
    const bench = await open();
    await bench.jobs.keepWorker(aBeat());
    bench.pass(1_000 + WORKER_TTL_MS - 1);
    expect(await bench.jobs.maintain({ limit: 10 })).toMatchObject({ forgottenWorkers: 0 });
    bench.pass(1);
    expect(await bench.jobs.maintain({ limit: 10 })).toMatchObject({ forgottenWorkers: 1 });
    expect(await bench.jobs.workers()).toEqual([]);
  });
}
