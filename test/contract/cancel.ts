/** Cancel: at once if no worker runs the job, otherwise by a request to the worker; final in any case. */
import { expect, it } from 'vitest';
import { THROTTLE_RECORD } from '../../src/core/limits/throttle.ts';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, outcomeOf, release, resend, retry, START } from './workbench.ts';

export function cancelContract(open: Open): void {
  it('ends waiting jobs and drafts at once', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b', draft: true, delayMs: 9 }, { id: 'c', delayMs: 1_000 });
    bench.pass(3);
    const results = await bench.jobs.cancel([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    expect(results).toEqual([1, 2, 3].map(() => ({ ok: true, outcome: 'cancelled' })));
    expect(await bench.states('a', 'b', 'c')).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(await bench.job('b')).toMatchObject({ endedAt: START + 3 });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'cancelled', token: null, by: null });
    bench.pass(5_000);
    expect(await bench.claimIds()).toEqual([]);
  });

  it('can be repeated with the same result', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    await bench.running({ id: 'b', queue: 'other' });
    const ask = () => bench.jobs.cancel([{ id: 'a' }, { id: 'b' }]);
    const first = await ask();
    expect(first).toEqual([
      { ok: true, outcome: 'cancelled' },
      { ok: true, outcome: 'asked' },
    ]);
    const kept = await bench.jobs.find(['a', 'b']);
    bench.pass(10);
    expect(await ask()).toEqual(first);
    expect(await bench.jobs.find(['a', 'b'])).toEqual(kept);
    expect(await bench.events('b')).toEqual(['added', 'claimed', 'cancel-asked']);
  });

  it('leaves a cancel request on a running job, for its worker', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(4);
    await bench.jobs.cancel([{ id: 'a' }]);
    expect(await bench.job('a')).toEqual({ ...job, lease: { ...job.lease, cancelAskedAt: START + 4 } });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({
      event: 'cancel-asked',
      state: 'running',
      token: job.lease.token,
    });
    const { jobs } = await bench.jobs.list({ label: 'cancelling', order: 'newest', limit: 10 });
    expect(jobs.map(({ id }) => id)).toEqual(['a']);
  });

  it('ends the job as cancelled, whatever settlement its holder sends', async () => {
    const bench = await open();
    const outcomes = [
      { kind: 'complete', result: '1' } as const,
      { kind: 'complete', next: { queue: 'next', delayMs: 0 } } as const,
      { kind: 'forward', address: 'x' } as const,
      fail(),
      retry(),
      resend(),
      release,
    ];
    await bench.setQueue('q', { retries: 9 });
    for (const [index, outcome] of outcomes.entries()) {
      const id = String(index);
      const job = await bench.running({ id });
      await bench.jobs.cancel([{ id }]);
      expect(await bench.settle(job, outcome)).toEqual({ ok: true, state: 'cancelled' });
      expect(await bench.job(id)).toMatchObject({ state: 'cancelled', result: null, lease: null, endedAt: bench.now });
      expect(await bench.job(id)).toMatchObject({ queue: 'q', failures: 0, interruptions: 0, forwardedTo: null });
      const note = outcome === release ? 'release: drain' : outcome.kind;
      expect((await bench.jobs.history(id)).at(-1)).toMatchObject({ event: 'cancelled', by: 'w', note });
      expect(await bench.settle(job, outcome)).toEqual({ ok: true, state: 'cancelled' });
    }
  });

  it('ends an abandoned attempt: its reason is in the history, key and slot are free, and its token is stale', async () => {
    const bench = await open();
    await bench.store.records.put({ kind: THROTTLE_RECORD, key: 'db', value: '{"max":1}' });
    const unique = { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 } as const;
    const policy = { throttles: ['db'] };
    const job = await bench.running({ id: 'a', unique, policy });
    const settle = () => bench.settle(job, { kind: 'release', reason: 'its code may still run' });
    await bench.jobs.cancel([{ id: 'a' }]);
    await bench.add({ id: 'waits', policy });
    expect(await bench.claimIds()).toEqual([]);
    expect(await settle()).toEqual({ ok: true, state: 'cancelled' });
    const rows = await bench.jobs.history('a');
    expect(rows.at(-1)).toMatchObject({ event: 'cancelled', by: 'w', note: 'release: its code may still run' });
    expect(await bench.claimIds()).toEqual(['waits']);
    expect(await bench.jobs.add([{ id: 'b', queue: 'q', data: '{}', unique }])).toMatchObject([{ ok: true }]);
    expect(await settle()).toEqual({ ok: true, state: 'cancelled' });
    expect(await bench.jobs.history('a')).toEqual(rows);
    expect(outcomeOf(await bench.settle(job, complete))).toBe('lease-lost');
    expect(await bench.jobs.heartbeat([{ id: 'a', token: job.lease.token }])).toMatchObject([{ ok: false }]);
  });

  it('ends the job as cancelled when its lease expires', async () => {
    const bench = await open();
    for (const settings of [{}, { onLost: 'fail' }, { lostCountsAs: 'failure', retries: 9 }] as const) {
      const id = JSON.stringify(settings).length.toString();
      await bench.setQueue('q', settings);
      const job = await bench.running({ id });
      await bench.jobs.cancel([{ id }]);
      bench.pass(LEASE_MS);
      expect(await bench.claimIds()).toEqual([]);
      expect(await bench.job(id)).toMatchObject({ state: 'cancelled', crashes: 0, failures: 0, failure: null });
      expect(outcomeOf(await bench.settle(job, complete))).toBe('lease-lost');
    }
  });

  it('ends the job as cancelled when its worker is failed', async () => {
    const bench = await open();
    await bench.running({ id: 'a' });
    await bench.jobs.cancel([{ id: 'a' }]);
    expect(await bench.jobs.endWorker({ id: 'w', kind: 'fail' })).toEqual({ ok: true, returned: 1 });
    expect(await bench.states('a')).toEqual(['cancelled']);
  });

  it('ends a job without a worker at once: an expired lease, a held job', async () => {
    const bench = await open();
    await bench.setQueue('held', { onLost: 'hold' });
    await bench.running({ id: 'a' });
    await bench.running({ id: 'b', queue: 'held' });
    bench.pass(LEASE_MS);
    expect(await bench.jobs.cancel([{ id: 'a' }, { id: 'b' }])).toEqual([
      { ok: true, outcome: 'cancelled' },
      { ok: true, outcome: 'cancelled' },
    ]);
    expect((await bench.jobs.history('b')).at(-1)).toMatchObject({
      event: 'cancelled',
      by: 'w',
      note: 'no worker was running it',
    });
  });

  it('ends a job with a cancel request at once when no worker is left', async () => {
    const bench = await open();
    await bench.setQueue('q', { onLost: 'hold' });
    await bench.running({ id: 'a' });
    expect(await bench.jobs.cancel([{ id: 'a' }])).toEqual([{ ok: true, outcome: 'asked' }]);
    await bench.loseLeases();
    expect(await bench.states('a')).toEqual(['running']);
    expect(await bench.jobs.cancel([{ id: 'a' }])).toEqual([{ ok: true, outcome: 'cancelled' }]);
  });

  it('is refused for a done, failed or missing job', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'done' }), complete);
    await bench.settle(await bench.running({ id: 'failed' }), fail());
    const results = await bench.jobs.cancel([{ id: 'done' }, { id: 'failed' }, { id: 'none' }]);
    expect(results.map(outcomeOf)).toEqual(['wrong-state', 'wrong-state', 'not-found']);
    const message = 'job done is done: only draft, waiting and running jobs can be cancelled';
    expect(results[0]).toMatchObject({ refusal: { message } });
    expect(await bench.states('done', 'failed')).toEqual(['done', 'failed']);
  });

  it('is refused if the job was claimed since the caller saw it', async () => {
    const bench = await open();
    await bench.running({ id: 'a' });
    expect((await bench.jobs.cancel([{ id: 'a', attempt: 0 }])).map(outcomeOf)).toEqual(['moved-on']);
    expect((await bench.job('a')).lease?.cancelAskedAt).toBeNull();
    expect((await bench.jobs.cancel([{ id: 'a', attempt: 1 }])).map(outcomeOf)).toEqual(['ok']);
  });

  it('leaves no cancel request after a requeue', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.jobs.cancel([{ id: 'a' }]);
    await bench.settle(job, release);
    await bench.jobs.requeue([{ id: 'a' }]);
    expect((await bench.claimOne()).lease.cancelAskedAt).toBeNull();
  });
}
