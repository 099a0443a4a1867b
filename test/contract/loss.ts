/** Lost leases: when they expire, what is counted, and how the queue's settings apply. */
import { expect, it } from 'vitest';
import type { Open } from './contract.ts';
import { complete, LEASE_MS, outcomeOf, START } from './workbench.ts';

export function lossContract(open: Open): void {
  it('takes an expired lease in one step: the attempt ends and a new one begins', async () => {
    const bench = await open();
    const lost = await bench.running({ id: 'a' });
    bench.pass(LEASE_MS);
    const job = await bench.claimOne({ worker: 'other' });
    expect(job).toMatchObject({ id: 'a', attempt: 2, crashes: 1, failures: 0, interruptions: 0 });
    expect(job.lease.token).toBeGreaterThan(lost.lease.token);
    expect((await bench.jobs.history('a')).slice(2)).toEqual([
      {
        at: START + LEASE_MS,
        event: 'lost',
        state: 'waiting',
        attempt: 1,
        token: lost.lease.token,
        by: 'w',
        note: 'its lease was not renewed',
      },
      expect.objectContaining({ event: 'claimed', attempt: 2, token: job.lease.token, by: 'other' }),
    ]);
  });

  it('expires at the end of the lease and not before', async () => {
    const bench = await open();
    await bench.running({ id: 'a' });
    bench.pass(LEASE_MS - 1);
    expect(await bench.claimIds()).toEqual([]);
    expect(await bench.jobs.maintain({ limit: 10 })).toMatchObject({ overtaken: 0 });
    bench.pass(1);
    expect(await bench.claimIds()).toEqual(['a']);
  });

  it('expires leases only in the claimed queues', async () => {
    const bench = await open();
    await bench.running({ id: 'a', queue: 'other' });
    bench.pass(LEASE_MS);
    expect(await bench.claimIds({ queues: ['q'] })).toEqual([]);
    expect(await bench.states('a')).toEqual(['running']);
  });

  it('does not expire leases of a paused queue by a claim', async () => {
    const bench = await open();
    await bench.running({ id: 'a' });
    await bench.setQueue('q', { state: 'paused' });
    bench.pass(LEASE_MS);
    expect(await bench.claimIds()).toEqual([]);
    expect(await bench.states('a')).toEqual(['running']);
  });

  it('expires leases in maintenance too, a limited number at a time', async () => {
    const bench = await open();
    await bench.add(...[1, 2, 3].map((id) => ({ id: String(id) })));
    await bench.add({ id: '4', queue: 'other' });
    await bench.claim({ queues: ['q', 'other'] });
    bench.pass(LEASE_MS);
    expect(await bench.jobs.maintain({ limit: 2 })).toMatchObject({ overtaken: 2, more: true });
    expect(await bench.jobs.maintain({ limit: 3 })).toMatchObject({ overtaken: 2, more: false });
    expect(await bench.states('1', '2', '3', '4')).toEqual(['waiting', 'waiting', 'waiting', 'waiting']);
    expect(await bench.claimIds()).toEqual(['1', '2', '3']);
  });

  it('returns the oldest lost leases first in maintenance', async () => {
    const bench = await open();
    await bench.add({ id: 'late' }, { id: 'early' });
    await bench.claimOne({ leaseMs: 3_000 });
    await bench.claimOne({ leaseMs: 1_000 });
    bench.pass(5_000);
    expect(await bench.jobs.maintain({ limit: 1 })).toMatchObject({ overtaken: 1, more: true });
    expect(await bench.states('late', 'early')).toEqual(['running', 'waiting']);
  });

  it('puts a lost job at the front since the end of its lease', async () => {
    const bench = await open();
    await bench.running({ id: 'a' });
    await bench.loseLeases(LEASE_MS + 500);
    expect(await bench.job('a')).toMatchObject({
      state: 'waiting',
      lease: null,
      returnedAt: START + LEASE_MS,
      runAt: START + LEASE_MS + 500,
    });
  });

  it('backs off from the second crash on, and fails the job at the limit', async () => {
    const bench = await open();
    await bench.setQueue('q', { maxCrashes: 4 });
    await bench.add({ id: 'a' });
    const waits: number[] = [];
    for (const crashes of [1, 2, 3]) {
      await bench.claimOne();
      await bench.loseLeases();
      const job = await bench.job('a');
      expect(job).toMatchObject({ state: 'waiting', crashes });
      waits.push(job.runAt - bench.now);
      bench.pass(waits.at(-1) ?? 0);
    }
    expect(waits).toEqual([0, 10_000, 20_000]);
    await bench.claimOne();
    await bench.loseLeases();
    expect(await bench.job('a')).toMatchObject({
      state: 'failed',
      crashes: 4,
      failures: 0,
      failure: { group: 'crashed', message: 'its worker was lost 4 times', detail: 'its lease was not renewed' },
      endedAt: bench.now,
    });
  });

  it('starts a crashed job after its backoff, and then before all other jobs', async () => {
    const bench = await open();
    await bench.add({ id: 'a', priority: 9 });
    for (let crash = 0; crash < 2; crash += 1) {
      await bench.claimOne();
      await bench.loseLeases();
    }
    await bench.add({ id: 'b' }, { id: 'c' });
    expect(await bench.claimIds({ limit: 1 })).toEqual(['b']);
    expect((await bench.requestClaim({ limit: 0 })).nextAt).toBe(bench.now + 10_000);
    bench.pass(10_000);
    expect(await bench.claimIds()).toEqual(['a', 'c']);
  });

  it('allows five crashes by default', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    const states: (string | null)[] = [];
    for (let crash = 0; crash < 5; crash += 1) {
      await bench.claimOne();
      await bench.loseLeases();
      states.push(...(await bench.states('a')));
      bench.pass(3_600_000);
    }
    expect(states).toEqual(['waiting', 'waiting', 'waiting', 'waiting', 'failed']);
  });

  it('fails a lost job if the queue sets that', async () => {
    const bench = await open();
    await bench.setQueue('q', { onLost: 'fail' });
    await bench.running({ id: 'a' });
    await bench.loseLeases();
    expect(await bench.job('a')).toMatchObject({
      state: 'failed',
      crashes: 0,
      lease: null,
      failure: { group: 'lost', message: 'its lease was not renewed', detail: null },
    });
  });

  it('holds a lost job without limit if the queue sets that', async () => {
    const bench = await open();
    await bench.setQueue('q', { onLost: 'hold' });
    const job = await bench.running({ id: 'a' });
    await bench.loseLeases(30 * 86_400_000);
    expect(await bench.claimIds()).toEqual([]);
    expect(await bench.states('a')).toEqual(['running']);
    const { jobs } = await bench.jobs.list({ label: 'held', order: 'newest', limit: 10 });
    expect(jobs.map(({ id }) => id)).toEqual(['a']);
    expect(await bench.heartbeat(job)).toMatchObject({ ok: true });
    expect(await bench.settle(job, complete)).toMatchObject({ state: 'done' });
  });

  it('counts a loss as a failure if the queue sets that, until the retries are exhausted', async () => {
    const bench = await open();
    await bench.setQueue('q', { lostCountsAs: 'failure', retries: 1, exhaustedGroup: 'failed-retries' });
    await bench.add({ id: 'a' });
    await bench.claimOne();
    await bench.loseLeases();
    expect(await bench.job('a')).toMatchObject({ state: 'waiting', failures: 1, crashes: 0, runAt: bench.now });
    expect((await bench.job('a')).returnedAt).toBe(bench.now);
    await bench.claimOne();
    await bench.loseLeases();
    expect(await bench.job('a')).toMatchObject({
      state: 'failed',
      failures: 2,
      crashes: 0,
      failure: { group: 'failed-retries', message: 'its lease was not renewed', detail: null },
    });
  });

  it("uses the job's own retries, and the group lost by default", async () => {
    const bench = await open();
    await bench.setQueue('q', { lostCountsAs: 'failure', retries: 5 });
    await bench.running({ id: 'a', policy: { retries: 0 } });
    await bench.loseLeases();
    expect(await bench.job('a')).toMatchObject({ state: 'failed', failures: 1, failure: { group: 'lost' } });
  });

  it('respects a lease for the grace period of its queue', async () => {
    const bench = await open();
    await bench.setQueue('q', { lostGraceMs: 10_000 });
    const job = await bench.running({ id: 'a' });
    bench.pass(LEASE_MS + 9_999);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
    expect(await bench.jobs.maintain({ limit: 10 })).toMatchObject({ overtaken: 0 });
    bench.pass(1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
    expect(outcomeOf(await bench.heartbeat(job))).toBe('lease-lost');
  });

  it('does not return a lost lease when its request is repeated', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    await bench.claim({ requestId: 'r' });
    await bench.loseLeases();
    await bench.claimOne({ worker: 'other' });
    expect(await bench.claimIds({ requestId: 'r' })).toEqual([]);
  });
}
