/** The clock: a store that slept, or whose clock steps, must not end every lease at once. */
import { expect, it } from 'vitest';
import { CLAMP_MS, GAP_MS } from '../../src/core/clock.ts';
import type { Open } from './contract.ts';
import { LEASE_MS, outcomeOf, START, type Workbench } from './workbench.ts';

const DAY_MS = 86_400_000;

/** Somebody calls every second, as workers do, so that no gap opens. */
async function live(bench: Workbench, ms: number): Promise<void> {
  for (const end = bench.now + ms; bench.now < end; ) {
    bench.pass(Math.min(1_000, end - bench.now));
    await bench.jobs.maintain({ limit: 0 });
  }
}

export function clockContract(open: Open): void {
  it('overtakes on time while somebody calls all along', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    await live(bench, LEASE_MS - 1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
  });

  it('gives every lease its whole length again after a gap in which nobody called', async () => {
    const bench = await open('guarded');
    const job = await bench.running({ id: 'a' });
    bench.pass(3 * LEASE_MS);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
    expect(await bench.jobs.maintain({ limit: 10 })).toMatchObject({ overtaken: 0 });
    await live(bench, LEASE_MS - 1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
    expect(outcomeOf(await bench.beat(job))).toBe('lease-lost');
  });

  it('does not take a short silence for a gap', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    await live(bench, LEASE_MS - GAP_MS);
    bench.pass(GAP_MS);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
  });

  it('takes a slightly longer silence for a gap', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    await live(bench, LEASE_MS - GAP_MS);
    bench.pass(GAP_MS + 1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
  });

  it('overtakes at once what was over before the gap began', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    await live(bench, LEASE_MS);
    bench.pass(10 * LEASE_MS);
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a']);
  });

  it('does not end a gap by looking', async () => {
    const bench = await open('guarded');
    await bench.running({ id: 'a' });
    bench.pass(LEASE_MS - 1_000);
    await bench.jobs.find(['a']);
    await bench.jobs.count();
    await bench.jobs.list({ order: 'newest', limit: 1 });
    bench.pass(1_000);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
  });

  it('leaves a lease alone, for a cancel too, that is not yet overtaken', async () => {
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

  it('believes a large step back, and restarts running leases from there', async () => {
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

  it('counts a rate anew from the new now after a large step back', async () => {
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

  it("believes the caller's time as it is where it was opened for that", async () => {
    const bench = await open('caller');
    await bench.running({ id: 'a' });
    bench.now = START - 10;
    await bench.add({ id: 'b' });
    expect((await bench.job('b')).createdAt).toBe(START - 10);
    bench.now = START + LEASE_MS;
    expect(await bench.claimIds({ worker: 'other' })).toEqual(['a', 'b']);
  });

  it("goes by its own time, and not by the caller's, where it has its own", async () => {
    const bench = await open('store');
    bench.now = 5;
    await bench.add({ id: 'a' });
    expect((await bench.job('a')).createdAt).toBeGreaterThan(START);
    expect((await bench.ask()).now).toBeGreaterThan(START);
  });
}
