/** Claim: the lease, repetition by request id, queues that start nothing, and the time of the next claim. */
import { expect, it } from 'vitest';
import type { Open } from './contract.ts';
import { complete, LEASE_MS, release, START } from './workbench.ts';

export function claimContract(open: Open): void {
  it("gives a worker a lease with the queue's length", async () => {
    const bench = await open();
    await bench.setQueue('q', { leaseMs: 1_234 });
    await bench.add({ id: 'a' });
    bench.pass(5);
    const job = await bench.claimOne({ worker: 'w-1' });
    expect(job).toMatchObject({ state: 'running', attempt: 1, returnedAt: null, progress: null, endedAt: null });
    const now = START + 5;
    expect(job.lease).toEqual({
      token: expect.any(Number),
      worker: 'w-1',
      ms: 1_234,
      until: now + 1_234,
      claimedAt: now,
      startedAt: null,
      pid: null,
      cancelAskedAt: null,
      pauseAskedAt: null,
    });
    expect(await bench.job('a')).toEqual(job);
    expect((await bench.jobs.history('a')).at(-1)).toEqual({
      at: now,
      event: 'claimed',
      state: 'running',
      attempt: 1,
      token: job.lease.token,
      by: 'w-1',
      note: null,
    });
  });

  it('gives a lease of the requested length', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    expect((await bench.claimOne({ leaseMs: 77 })).lease).toMatchObject({ ms: 77, until: START + 77 });
  });

  it('never gives a token twice, whichever job and queue it is for', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b', queue: 'other' }, { id: 'c' });
    const tokens: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const jobs = await bench.claim({ queues: ['other', 'q'] });
      tokens.push(...jobs.map(({ lease }) => lease.token));
      for (const job of jobs) await bench.settle(job, release);
    }
    expect(tokens).toHaveLength(9);
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
  });

  it('never gives a token twice, even after everything was deleted', async () => {
    const bench = await open();
    const first = await bench.running({ id: 'a' });
    await bench.settle(first, complete);
    await bench.jobs.delete(['a']);
    expect((await bench.running({ id: 'a' })).lease.token).toBeGreaterThan(first.lease.token);
  });

  it('gives a job to one of many concurrent claims', async () => {
    const bench = await open();
    await bench.add(...Array.from({ length: 20 }, (_, index) => ({ id: String(index) })));
    const workers = Array.from({ length: 8 }, (_, index) => `w-${index}`);
    const claims = await Promise.all(workers.map((worker) => bench.claim({ worker, limit: 5 })));
    const ids = claims.flat().map(({ id }) => id);
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
  });

  it('returns the same leases when its request is repeated', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' });
    const first = await bench.claim({ requestId: 'r', limit: 2 });
    bench.pass(10);
    expect(await bench.claim({ requestId: 'r', limit: 2 })).toEqual(first);
    expect(await bench.states('a', 'b', 'c')).toEqual(['running', 'running', 'waiting']);
    expect(await bench.events('a')).toEqual(['added', 'claimed']);
  });

  it('returns only leases that are still held, in their present state', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' });
    const [a, b, c] = await bench.claim({ requestId: 'r', limit: 3 });
    await bench.settle(a!, complete);
    await bench.settle(b!, release);
    expect(await bench.claimIds({ worker: 'other', limit: 1 })).toEqual(['b']);
    await bench.heartbeat(c!, { progress: { percent: 5, text: null } });
    const again = await bench.claim({ requestId: 'r', limit: 3 });
    expect(again).toEqual([await bench.job('c')]);
    expect(again[0]?.progress?.percent).toBe(5);
  });

  it('treats another request id, or another worker, as a new claim', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' });
    const claim = (worker: string, requestId: string) => bench.claimIds({ worker, requestId, limit: 1 });
    expect(await claim('w', '1')).toEqual(['a']);
    expect(await claim('v', '1')).toEqual(['b']);
    expect(await claim('w', '2')).toEqual(['c']);
    expect(await claim('v', '1')).toEqual(['b']);
    expect(await claim('v', '2')).toEqual(['d']);
  });

  it.each([
    ['plain jobs', {}],
    ['a limited queue', { maxRunning: 100 }],
  ])('remembers the last two requests of a worker, and forgets the first at the third: %s', async (_of, settings) => {
    const bench = await open();
    await bench.setQueue('q', settings);
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }, { id: 'e' });
    const claim = (requestId: string) => bench.claim({ requestId, limit: 1 });
    const [first, second] = [await claim('1'), await claim('2')];
    expect([first, second].flat().map(({ id }) => id)).toEqual(['a', 'b']);
    expect(await claim('1')).toEqual(first);
    expect(await claim('2')).toEqual(second);
    expect((await claim('3')).map(({ id }) => id)).toEqual(['c']);
    expect(await claim('2')).toEqual(second);
    expect((await claim('1')).map(({ id }) => id)).toEqual(['d']);
  });

  it('counts neither a repeat nor a request that got nothing among the last two', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    const claim = (requestId: string) => bench.claimIds({ requestId, limit: 1 });
    expect([await claim('1'), await claim('2'), await claim('2'), await claim('3'), await claim('4')]).toEqual([
      ['a'],
      ['b'],
      ['b'],
      [],
      [],
    ]);
    expect([await claim('1'), await claim('2')]).toEqual([['a'], ['b']]);
  });

  it('returns the leases of the request before the last beside a settlement', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' });
    const first = await bench.claim({ requestId: '1', limit: 1 });
    const [b] = await bench.claim({ requestId: '2', limit: 1 });
    const [, again] = await Promise.all([bench.settle(b!, complete), bench.claim({ requestId: '1', limit: 1 })]);
    expect(again).toEqual(first);
    expect(await bench.states('a', 'b', 'c')).toEqual(['running', 'done', 'waiting']);
  });

  it('does not remember a request that got nothing', async () => {
    const bench = await open();
    expect(await bench.claimIds({ requestId: 'r' })).toEqual([]);
    await bench.add({ id: 'a' });
    expect(await bench.claimIds({ requestId: 'r' })).toEqual(['a']);
  });

  it('starts nothing from a paused or down queue, and resumes when it is up', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b', queue: 'other' });
    for (const state of ['paused', 'down'] as const) {
      await bench.setQueue('q', { state });
      expect(await bench.claimIds()).toEqual([]);
      const { jobs } = await bench.jobs.list({ queue: 'q', order: 'claim', limit: 10 });
      expect(jobs).toEqual([]);
    }
    expect(await bench.claimIds({ queues: ['q', 'other'] })).toEqual(['b']);
    await bench.setQueue('q', { state: 'up' });
    expect(await bench.claimIds()).toEqual(['a']);
  });

  it('does not affect running jobs when their queue is paused or down', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    const [a, b] = await bench.claim();
    await bench.setQueue('q', { state: 'paused' });
    expect(await bench.heartbeat(a!)).toMatchObject({ ok: true });
    expect(await bench.settle(a!, complete)).toEqual({ ok: true, state: 'done' });
    await bench.setQueue('q', { state: 'down' });
    expect(await bench.settle(b!, complete)).toEqual({ ok: true, state: 'done' });
  });

  it('returns when the next job becomes claimable by time alone', async () => {
    const bench = await open();
    expect(await bench.requestClaim()).toEqual({ jobs: [], now: START, nextAt: null });
    await bench.add({ id: 'a', delayMs: 900 }, { id: 'b', delayMs: 300 }, { id: 'c', queue: 'other', delayMs: 100 });
    expect((await bench.requestClaim()).nextAt).toBe(START + 300);
    expect((await bench.requestClaim({ queues: ['q', 'other'] })).nextAt).toBe(START + 100);
    bench.pass(300);
    expect(await bench.requestClaim({ leaseMs: 200 })).toMatchObject({ now: START + 300, nextAt: START + 500 });
  });

  it('returns when the next lease could expire, including the grace period', async () => {
    const bench = await open();
    await bench.setQueue('q', { lostGraceMs: 50 });
    await bench.add({ id: 'a' });
    expect((await bench.requestClaim()).nextAt).toBe(START + LEASE_MS + 50);
    await bench.setQueue('q', { onLost: 'hold' });
    expect((await bench.requestClaim()).nextAt).toBeNull();
    await bench.setQueue('q', { state: 'paused' });
    expect((await bench.requestClaim()).nextAt).toBeNull();
  });
}
