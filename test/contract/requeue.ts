/** Requeue: budgets restart, attempt numbers continue. */
import { expect, it } from 'vitest';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, outcomeOf, resend } from './workbench.ts';

export function requeueContract(open: Open): void {
  it('returns a done, failed or cancelled job to its queue', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'done' }), complete);
    await bench.settle(await bench.running({ id: 'failed' }), fail());
    await bench.add({ id: 'cancelled' });
    await bench.jobs.cancel([{ id: 'cancelled' }]);
    bench.pass(10);
    const ids = ['done', 'failed', 'cancelled'];
    const results = await bench.jobs.requeue(ids.map((id) => ({ id })));
    expect(results).toEqual(ids.map(() => ({ ok: true, state: 'waiting' })));
    for (const job of await bench.jobs.find(ids)) {
      expect(job).toMatchObject({ state: 'waiting', endedAt: null, failure: null, runAt: bench.now, returnedAt: null });
    }
    expect(await bench.claimIds()).toEqual(ids);
  });

  it('restarts the budgets and clears the outcome of the last life', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 1 });
    await bench.add({ id: 'a' });
    await bench.settle(await bench.claimOne(), resend());
    await bench.claimOne();
    await bench.loseLeases();
    await bench.settle(await bench.claimOne(), { kind: 'release', reason: 'x' });
    const job = await bench.claimOne();
    await bench.heartbeat(job, { progress: { percent: 1, text: null }, checkpoint: '[1]' });
    await bench.settle(job, fail({ final: true }));
    await bench.jobs.requeue([{ id: 'a', delayMs: 30 }]);
    expect(await bench.job('a')).toMatchObject({
      state: 'waiting',
      runAt: bench.now + 30,
      attempt: 4,
      failures: 0,
      resends: 0,
      crashes: 0,
      interruptions: 1,
      progress: null,
      failure: null,
      result: null,
      checkpoint: '[1]',
    });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'requeued', state: 'waiting', token: null });
  });

  it('drops the checkpoint, the result and the address of a done job', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.heartbeat(job, { checkpoint: '1' });
    await bench.settle(job, { kind: 'complete', result: '2' });
    await bench.settle(await bench.running({ id: 'b' }), { kind: 'forward', address: 'there' });
    await bench.jobs.requeue([{ id: 'a' }, { id: 'b' }]);
    expect(await bench.job('a')).toMatchObject({ checkpoint: null, result: null });
    expect(await bench.job('b')).toMatchObject({ forwardedTo: null });
  });

  it('can be repeated, and succeeds for a waiting job', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a' }), fail());
    const ask = () => bench.jobs.requeue([{ id: 'a', attempt: 1, delayMs: 5 }]);
    expect(await ask()).toEqual([{ ok: true, state: 'waiting' }]);
    const kept = await bench.job('a');
    bench.pass(1);
    expect(await ask()).toEqual([{ ok: true, state: 'waiting' }]);
    expect(await bench.job('a')).toEqual(kept);
    expect(await bench.events('a')).toEqual(['added', 'claimed', 'failed', 'requeued']);
  });

  it('puts the job into another queue on request', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a' }), fail());
    expect(await bench.jobs.requeue([{ id: 'a', queue: 'second' }])).toEqual([{ ok: true, state: 'waiting' }]);
    expect(await bench.claimIds({ queues: ['q'] })).toEqual([]);
    expect(await bench.claimIds({ queues: ['second'] })).toEqual(['a']);
    expect(await bench.jobs.count(['q', 'second'])).toMatchObject([{ failed: 0 }, { running: 1 }]);
  });

  it('is refused while the job is a draft, runs, or waits in another queue', async () => {
    const bench = await open();
    await bench.add({ id: 'draft', draft: true }, { id: 'waiting' });
    await bench.running({ id: 'running', queue: 'other' });
    const results = await bench.jobs.requeue([
      { id: 'draft' },
      { id: 'running' },
      { id: 'waiting', queue: 'second' },
      { id: 'none' },
    ]);
    expect(results.map(outcomeOf)).toEqual(['wrong-state', 'wrong-state', 'wrong-state', 'not-found']);
    expect(await bench.states('draft', 'running', 'waiting')).toEqual(['draft', 'running', 'waiting']);
  });

  it('releases a held job, as an interruption', async () => {
    const bench = await open();
    await bench.setQueue('q', { onLost: 'hold' });
    const job = await bench.running({ id: 'a' });
    bench.pass(LEASE_MS - 1);
    expect((await bench.jobs.requeue([{ id: 'a' }])).map(outcomeOf)).toEqual(['wrong-state']);
    bench.pass(1);
    expect(await bench.jobs.requeue([{ id: 'a' }])).toEqual([{ ok: true, state: 'waiting' }]);
    expect(await bench.job('a')).toMatchObject({ interruptions: 1, crashes: 0, lease: null });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'requeued', token: job.lease.token });
    expect(outcomeOf(await bench.settle(job, complete))).toBe('lease-lost');
  });

  it('restarts a waiting or running job with steal', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 5 });
    const job = await bench.running({ id: 'a' });
    await bench.settle(job, fail());
    await bench.running({ id: 'b', queue: 'third' });
    await bench.add({ id: 'draft', draft: true });
    const asked = ['a', 'b', 'draft'].map((id) => ({ id, queue: 'second', delayMs: 20, steal: true }));
    expect((await bench.jobs.requeue(asked)).map(outcomeOf)).toEqual(['ok', 'ok', 'wrong-state']);
    const anew = { state: 'waiting', queue: 'second', failures: 0, failure: null, runAt: bench.now + 20, lease: null };
    expect(await bench.job('a')).toMatchObject({ ...anew, interruptions: 0 });
    expect(await bench.job('b')).toMatchObject({ ...anew, interruptions: 1 });
    await bench.jobs.requeue([{ id: 'a', delayMs: 50 }]);
    expect((await bench.job('a')).runAt).toBe(bench.now + 20);
    await bench.jobs.requeue([{ id: 'a', delayMs: 50, steal: true }]);
    expect((await bench.job('a')).runAt).toBe(bench.now + 50);
  });

  it('is refused if the job was claimed since the caller saw it', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.settle(job, fail());
    expect((await bench.jobs.requeue([{ id: 'a', attempt: 0 }])).map(outcomeOf)).toEqual(['moved-on']);
    expect((await bench.jobs.requeue([{ id: 'a', attempt: 1 }])).map(outcomeOf)).toEqual(['ok']);
  });

  it('is refused into another queue that is down, and allowed in its own', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a' }), fail());
    await bench.setQueue('second', { state: 'down' });
    expect((await bench.jobs.requeue([{ id: 'a', queue: 'second' }])).map(outcomeOf)).toEqual(['queue-down']);
    expect(await bench.states('a')).toEqual(['failed']);
    await bench.setQueue('q', { state: 'down' });
    expect((await bench.jobs.requeue([{ id: 'a' }])).map(outcomeOf)).toEqual(['ok']);
  });
}
