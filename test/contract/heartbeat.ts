/** Heartbeats: they renew a lease, carry progress and checkpoints, and are never history. */
import { expect, it } from 'vitest';
import type { Open } from './contract.ts';
import { complete, LEASE_MS, outcomeOf, START } from './workbench.ts';

export function heartbeatContract(open: Open): void {
  it('renews the lease from now, by the length it was claimed with', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(1_000);
    expect(await bench.heartbeat(job)).toEqual({
      ok: true,
      until: START + 1_000 + LEASE_MS,
      cancelAsked: false,
      pauseAsked: false,
    });
    bench.pass(LEASE_MS - 1);
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
  });

  it('keeps a job of six hours with its first attempt, while another worker asks for it all the time', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.heartbeat(job, { leaseMs: 60_000 });
    for (let passed = 0; passed < 6 * 3_600_000; passed += 45_000) {
      bench.pass(45_000);
      expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
      expect(await bench.heartbeat(job)).toMatchObject({ ok: true });
    }
    expect(await bench.settle(job, complete)).toMatchObject({ ok: true, state: 'done' });
    expect(await bench.job('a')).toMatchObject({ attempt: 1, crashes: 0, failures: 0 });
  });

  it('can set another length, which then stays', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    expect(await bench.heartbeat(job, { leaseMs: 600_000 })).toMatchObject({ until: START + 600_000 });
    bench.pass(10);
    expect(await bench.heartbeat(job)).toMatchObject({ until: START + 10 + 600_000 });
    expect((await bench.job('a')).lease).toMatchObject({ ms: 600_000, claimedAt: START });
  });

  it('is accepted after the end of the lease as long as the job was not taken', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(100 * LEASE_MS);
    expect(await bench.heartbeat(job)).toMatchObject({ ok: true, until: bench.now + LEASE_MS });
    expect(await bench.claimIds({ worker: 'other' })).toEqual([]);
    expect(await bench.settle(job, complete)).toMatchObject({ ok: true, state: 'done' });
  });

  it('reports the start of the attempt once, with its process id', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(10);
    await bench.heartbeat(job, { started: { pid: null } });
    expect((await bench.job('a')).lease).toMatchObject({ startedAt: START + 10, pid: null });
    bench.pass(10);
    await bench.heartbeat(job, { started: { pid: 4_711 } });
    bench.pass(10);
    await bench.heartbeat(job);
    expect((await bench.job('a')).lease).toMatchObject({ startedAt: START + 10, pid: 4_711 });
  });

  it('carries progress, a checkpoint and new data, and keeps fields that it does not name', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', data: '1' });
    await bench.heartbeat(job, { progress: { percent: 12.5, text: 'pass 1' }, checkpoint: '{"at":7}' });
    bench.pass(10);
    await bench.heartbeat(job, { data: '2' });
    expect(await bench.job('a')).toMatchObject({
      progress: { percent: 12.5, text: 'pass 1', at: START },
      checkpoint: '{"at":7}',
      data: '2',
    });
    await bench.heartbeat(job, { progress: { percent: null, text: null } });
    expect((await bench.job('a')).progress).toEqual({ percent: null, text: null, at: START + 10 });
  });

  it('leaves no history row', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.heartbeat(job, {
      started: { pid: 1 },
      progress: { percent: 1, text: null },
      checkpoint: '1',
      data: '2',
    });
    expect(await bench.events('a')).toEqual(['added', 'claimed']);
  });

  it('can be repeated', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    const beat = { started: { pid: 5 }, checkpoint: '"c"', leaseMs: 500 };
    const first = await bench.heartbeat(job, beat);
    const kept = await bench.job('a');
    expect(await bench.heartbeat(job, beat)).toEqual(first);
    expect(await bench.job('a')).toEqual(kept);
  });

  it('processes many in one call, each independently', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    const [a, b] = await bench.claim();
    await bench.settle(a!, complete);
    const results = await bench.jobs.heartbeat([
      { id: 'none', token: 1 },
      { id: 'b', token: b!.lease.token },
      { id: 'a', token: a!.lease.token },
    ]);
    expect(results.map(outcomeOf)).toEqual(['not-found', 'ok', 'lease-lost']);
  });

  it('returns that a cancel or a pause was requested', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.jobs.change([{ id: 'a', pause: true }]);
    expect(await bench.heartbeat(job)).toMatchObject({ cancelAsked: false, pauseAsked: true });
    await bench.jobs.change([{ id: 'a', pause: false }]);
    await bench.jobs.cancel([{ id: 'a' }]);
    expect(await bench.heartbeat(job)).toMatchObject({ cancelAsked: true, pauseAsked: false });
  });

  it('keeps the checkpoint for the next attempt, and drops the progress', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.heartbeat(job, { progress: { percent: 50, text: 'half' }, checkpoint: '[5]' });
    bench.pass(LEASE_MS);
    expect(await bench.claimOne({ worker: 'other' })).toMatchObject({ progress: null, checkpoint: '[5]', attempt: 2 });
  });
}
