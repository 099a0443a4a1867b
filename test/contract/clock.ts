/** Clock: a store that slept, or whose clock steps, must not expire every lease at once. */
import { expect, it } from 'vitest';
import type { RunningJob } from '../../src/core/job/job.ts';
import { CLAMP_MS, GAP_MS } from '../../src/core/lifecycle/clock.ts';
import { MAX_REBASED } from '../../src/core/operations/clock-step.ts';
import type { Open } from './contract.ts';
import { complete, LEASE_MS, outcomeOf, release, resend, retry, START, type Workbench } from './workbench.ts';

const DAY_MS = 86_400_000;

/** Calls the store every second, as workers do, so that no gap opens. */
async function live(bench: Workbench, ms: number): Promise<void> {
  for (const end = bench.now + ms; bench.now < end; ) {
    bench.pass(Math.min(1_000, end - bench.now));
    await bench.jobs.maintain({ limit: 0 });
  }
}

/** A store whose clock was right once and is now ahead. */
async function aheadBy(open: Open, ms: number): Promise<Workbench> {
  const bench = await open('guarded');
  await bench.jobs.maintain({ limit: 0 });
  bench.pass(ms);
  return bench;
}

export function clockContract(open: Open): void {
  it('expires leases on time while there are calls', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    await live(bench, LEASE_MS - 1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
  });

  it('gives every lease its whole length again after a gap without calls', async () => {
    const bench = await open('guarded');
    const job = await bench.running({ id: 'a' });
    bench.pass(3 * LEASE_MS);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
    expect(await bench.jobs.maintain({ limit: 10 })).toMatchObject({ overtaken: 0 });
    await live(bench, LEASE_MS - 1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
    expect(outcomeOf(await bench.heartbeat(job))).toBe('lease-lost');
  });

  it('does not treat a short silence as a gap', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    await live(bench, LEASE_MS - GAP_MS);
    bench.pass(GAP_MS);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
  });

  it('treats a slightly longer silence as a gap', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    await live(bench, LEASE_MS - GAP_MS);
    bench.pass(GAP_MS + 1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
  });

  it('expires at once leases that ended before the gap', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    await live(bench, LEASE_MS);
    bench.pass(10 * LEASE_MS);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
  });

  it('does not end a gap by reads', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    bench.pass(LEASE_MS - 1_000);
    await bench.jobs.find(['a']);
    await bench.jobs.count();
    await bench.jobs.list({ order: 'newest', limit: 1 });
    bench.pass(1_000);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
  });

  it('respects a lease in a gap, also for a cancel', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    bench.pass(2 * LEASE_MS);
    expect(await bench.jobs.cancel([{ id: 'a' }])).toEqual([{ ok: true, outcome: 'asked' }]);
  });

  it('stands still when the clock steps back a little', async () => {
    const bench = await open('guarded');
    await bench.add({ id: 'a' });
    bench.now = START - CLAMP_MS;
    expect((await bench.claimOne()).lease).toMatchObject({ claimedAt: START, until: START + LEASE_MS });
    bench.now = START - 1;
    await bench.add({ id: 'b' });
    expect((await bench.job('b')).createdAt).toBe(START);
    bench.now = START + 5;
    await bench.add({ id: 'c' });
    expect((await bench.job('c')).createdAt).toBe(START + 5);
  });

  it('accepts a large step back, and restarts running leases from there', async () => {
    const bench = await open('guarded');
    const job = await bench.running({ id: 'a' });
    const back = START - CLAMP_MS - 1;
    bench.now = back;
    await bench.jobs.maintain({ limit: 10 });
    expect((await bench.job('a')).lease).toMatchObject({ token: job.lease.token, until: back + LEASE_MS });
    await live(bench, LEASE_MS - 1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
  });

  it('counts a rate from the new now after a large step back', async () => {
    const bench = await open('guarded');
    await bench.setQueue('q', { rate: { count: 2, ms: 1_000 } });
    await bench.add(...['a', 'b', 'c', 'd'].map((id) => ({ id })));
    bench.pass(DAY_MS);
    expect(await bench.claimIds()).toEqual(['a', 'b']);
    bench.now = START;
    expect(await bench.claimIds()).toEqual([]);
    await live(bench, 500);
    expect(await bench.claimIds()).toEqual(['c']);
    await live(bench, 500);
    expect(await bench.claimIds()).toEqual(['d']);
  });

  it('starts a job that was added while the clock was ahead, once the clock came back', async () => {
    const bench = await aheadBy(open, DAY_MS);
    await bench.add({ id: 'plain' }, { id: 'delayed', delayMs: 5_000 }, { id: 'urgent', priority: -1 }, { id: 'last' });
    bench.now = START;
    expect((await bench.requestClaim({ limit: 0 })).nextAt).toBe(START + 5_000);
    expect((await bench.job('plain')).runAt).toBe(START);
    expect(await bench.claimIds({ leaseMs: DAY_MS })).toEqual(['urgent', 'plain', 'last']);
    await live(bench, 4_999);
    expect(await bench.claimIds({ leaseMs: DAY_MS })).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds({ leaseMs: DAY_MS })).toEqual(['delayed']);
  });

  it('counts the delay of a retry, a resend and a requeue from the new now', async () => {
    const bench = await aheadBy(open, DAY_MS);
    await bench.setQueue('q', { retries: 3 });
    for (const id of ['retried', 'resent', 'released', 'requeued', 'advanced']) await bench.running({ id });
    const holder = async (id: string) => (await bench.job(id)) as RunningJob;
    await bench.settle(await holder('retried'), retry(30_000));
    await bench.settle(await holder('resent'), resend(20_000));
    await bench.settle(await holder('released'), release);
    await bench.settle(await holder('requeued'), complete);
    await bench.jobs.requeue([{ id: 'requeued', delayMs: 10_000 }]);
    await bench.settle(await holder('advanced'), { kind: 'complete', next: { queue: 'r', delayMs: 7_000 } });
    bench.now = START;
    expect(await bench.claimIds()).toEqual(['released']);
    const times = async (...ids: string[]) => Promise.all(ids.map(async (id) => (await bench.job(id)).runAt - START));
    expect(await times('retried', 'resent', 'requeued', 'advanced')).toEqual([30_000, 20_000, 10_000, 7_000]);
  });

  it('keeps a run time that a producer gave, and one from before the clock went ahead', async () => {
    const bench = await open('guarded');
    await bench.add({ id: 'counted', delayMs: 2 * LEASE_MS });
    bench.pass(DAY_MS);
    await bench.add(
      { id: 'given', runAt: START + DAY_MS + 5 },
      { id: 'ready', runAt: START + 30_000 },
      { id: 'changed' },
    );
    await bench.jobs.change([{ id: 'changed', runAt: START + DAY_MS + 7 }]);
    await bench.jobs.maintain({ limit: 0 });
    bench.now = START;
    expect((await bench.requestClaim()).jobs).toEqual([]);
    const found = await bench.jobs.find(['counted', 'given', 'ready', 'changed']);
    expect(found.map((job) => (job?.runAt ?? 0) - START)).toEqual([2 * LEASE_MS, DAY_MS + 5, 30_000, DAY_MS + 7]);
    bench.pass(30_000);
    expect(await bench.claimIds()).toEqual(['ready']);
    bench.now = START + 2 * LEASE_MS;
    expect(await bench.claimIds()).toEqual(expect.arrayContaining(['counted']));
  });

  it('starts jobs that waited for other jobs, a slot or a commit while the clock was ahead', async () => {
    const bench = await aheadBy(open, DAY_MS);
    await bench.records.put({ kind: 'throttle', key: 't', value: '{"max":1}' });
    const parent = await bench.running({ id: 'parent', policy: { throttles: ['t'] } });
    await bench.add({ id: 'child', dependsOn: ['parent'] }, { id: 'parked', policy: { throttles: ['t'] } });
    await bench.add({ id: 'draft', draft: true });
    expect(await bench.claimIds()).toEqual([]);
    bench.now = START;
    await bench.jobs.commit(['draft']);
    await bench.settle(parent, complete);
    expect(await bench.claimIds()).toEqual(['child', 'parked', 'draft']);
  });

  it('keeps claim order among jobs that were added before, during and after', async () => {
    const bench = await open('guarded');
    await bench.add({ id: 'before' });
    bench.pass(DAY_MS);
    await bench.add({ id: 'first' }, { id: 'second', tags: ['t'] });
    bench.pass(1);
    await bench.add({ id: 'third' });
    bench.now = START + 10;
    await bench.jobs.maintain({ limit: 0 });
    bench.pass(1);
    await bench.add({ id: 'after' });
    expect((await bench.jobs.list({ queue: 'q', order: 'claim', limit: 9 })).jobs.map(({ id }) => id)).toEqual([
      'before',
      'first',
      'second',
      'third',
      'after',
    ]);
    expect(await bench.claimIds()).toEqual(['before', 'first', 'second', 'third', 'after']);
  });

  it('follows a second step back', async () => {
    const bench = await aheadBy(open, DAY_MS);
    await bench.add({ id: 'a' }, { id: 'b', delayMs: 1_000 });
    bench.now = START + DAY_MS / 2;
    await bench.jobs.maintain({ limit: 0 });
    bench.now = START;
    expect(await bench.claimIds({ leaseMs: DAY_MS })).toEqual(['a']);
    await live(bench, 1_000);
    expect(await bench.claimIds()).toEqual(['b']);
  });

  it('reaches more jobs than one call scans, and reports that there is more', async () => {
    const count = 2 * MAX_REBASED + 100;
    const bench = await aheadBy(open, DAY_MS);
    await bench.add(...Array.from({ length: count }, (_, n) => ({ id: `j${n}`, ...(n % 2 === 0 && { priority: 1 }) })));
    bench.now = START;
    const first = await bench.requestClaim({ limit: 1 });
    expect([first.jobs.map(({ id }) => id), first.nextAt]).toEqual([['j1'], START + 1]);
    await bench.jobs.maintain({ limit: 0 });
    await bench.jobs.maintain({ limit: 0 });
    expect(await bench.jobs.count(['q'])).toMatchObject([{ scheduled: 0, waiting: count - 1 }]);
    expect((await bench.claimIds({ limit: count })).length).toBe(count - 1);
  });

  it("uses the caller's time unchanged if it was opened for that", async () => {
    const bench = await open('caller');
    await bench.running({ id: 'a' });
    bench.now = START - 10;
    await bench.add({ id: 'b' });
    expect((await bench.job('b')).createdAt).toBe(START - 10);
    bench.now = START + LEASE_MS;
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a', 'b']);
  });

  it("uses its own time, and not the caller's, if it has its own", async () => {
    const bench = await open('store');
    bench.now = 5;
    await bench.add({ id: 'a' });
    expect((await bench.job('a')).createdAt).toBeGreaterThan(START);
    expect((await bench.requestClaim()).now).toBeGreaterThan(START);
  });
}
