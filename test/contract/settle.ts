/** Settle: the effect of each outcome on a job, its counters and their limits. */
import { expect, it } from 'vitest';
import type { Open } from './contract.ts';
import { complete, fail, type Outcome, outcomeOf, release, resend, retry, START } from './workbench.ts';

const FAILURE = { group: 'boom', message: 'it broke', detail: null };

export function settleContract(open: Open): void {
  it('completes: done, with the result, without a lease', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', data: '1' });
    bench.pass(7);
    expect(await bench.settle(job, { kind: 'complete', result: '"r"' })).toEqual({ ok: true, state: 'done' });
    const { lease: _lease, ...before } = job;
    expect(await bench.job('a')).toEqual({ ...before, lease: null, state: 'done', result: '"r"', endedAt: START + 7 });
    expect((await bench.jobs.history('a')).at(-1)).toEqual({
      at: START + 7,
      event: 'completed',
      state: 'done',
      attempt: 1,
      token: job.lease.token,
      by: 'w',
      note: null,
    });
  });

  it('completes without a result, and with data that replaces the old', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', data: '1' });
    await bench.settle(job, { kind: 'complete', data: '2' });
    expect(await bench.job('a')).toMatchObject({ result: null, data: '2' });
  });

  it('clears an earlier failure when the job is done', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', policy: { retries: 1 } });
    await bench.settle(job, fail());
    expect((await bench.job('a')).failure).toEqual(FAILURE);
    await bench.settle(await bench.claimOne(), complete);
    expect(await bench.job('a')).toMatchObject({ state: 'done', failure: null, failures: 1, attempt: 2 });
  });

  it('fails for good if no retry is left, which is the default', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(3);
    expect(await bench.settle(job, fail({ delayMs: 50 }))).toEqual({ ok: true, state: 'failed' });
    expect(await bench.job('a')).toMatchObject({ state: 'failed', failures: 1, failure: FAILURE, endedAt: START + 3 });
    expect(await bench.job('a')).toMatchObject({ lease: null, crashes: 0, runAt: START });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'failed', note: 'it broke' });
  });

  it('waits for its delay if a retry is left', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 2 });
    await bench.add({ id: 'a' });
    for (const failures of [1, 2]) {
      expect(await bench.settle(await bench.claimOne(), fail({ delayMs: 40 }))).toEqual({ ok: true, state: 'waiting' });
      expect(await bench.job('a')).toMatchObject({ failures, runAt: bench.now + 40, returnedAt: null, lease: null });
      expect(await bench.job('a')).toMatchObject({ failure: FAILURE, endedAt: null });
      expect(await bench.claimIds()).toEqual([]);
      bench.pass(40);
    }
    expect(await bench.settle(await bench.claimOne(), fail())).toEqual({ ok: true, state: 'failed' });
    expect(await bench.job('a')).toMatchObject({ failures: 3, attempt: 3 });
  });

  it("uses the job's own number of retries before its queue's", async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 1 });
    await bench.add({ id: 'none', policy: { retries: 0 } }, { id: 'two', policy: { retries: 2 } });
    const [none, two] = await bench.claim();
    expect(await bench.settle(none!, fail())).toMatchObject({ state: 'failed' });
    expect(await bench.settle(two!, fail())).toMatchObject({ state: 'waiting' });
    await bench.settle(await bench.claimOne(), fail());
    expect(await bench.states('two')).toEqual(['waiting']);
  });

  it('fails for good at once with final, whatever is left', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', policy: { retries: 9 } });
    expect(await bench.settle(job, fail({ final: true }))).toMatchObject({ state: 'failed' });
  });

  it('counts a retry as a failure, and uses the exhausted group only for it', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 1, exhaustedGroup: 'failed-retries' });
    await bench.add({ id: 'a' }, { id: 'b' });
    const [a, b] = await bench.claim();
    expect(await bench.settle(a!, retry(5))).toMatchObject({ state: 'waiting' });
    expect(await bench.job('a')).toMatchObject({ failures: 1, runAt: START + 5, failure: { group: 'boom' } });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'retried', note: 'once more' });
    bench.pass(5);
    expect(await bench.settle(await bench.claimOne(), retry())).toMatchObject({ state: 'failed' });
    expect(await bench.job('a')).toMatchObject({
      failures: 2,
      failure: { group: 'failed-retries', message: 'once more', detail: 'a line' },
    });
    await bench.settle(b!, fail({ final: true }));
    expect(await bench.job('b')).toMatchObject({ failure: { group: 'boom' } });
  });

  it('resends after a delay, up to the limit', async () => {
    const bench = await open();
    await bench.setQueue('q', { maxResends: 2 });
    await bench.add({ id: 'a' });
    for (const resends of [1, 2]) {
      expect(await bench.settle(await bench.claimOne(), resend(30))).toEqual({ ok: true, state: 'waiting' });
      expect(await bench.job('a')).toMatchObject({ resends, failures: 0, runAt: bench.now + 30, returnedAt: null });
      bench.pass(30);
    }
    expect(await bench.settle(await bench.claimOne(), resend())).toEqual({ ok: true, state: 'failed' });
    expect(await bench.job('a')).toMatchObject({
      resends: 2,
      failures: 0,
      failure: { group: 'resends', message: 'hit the limit of resends', detail: 'not yet' },
    });
    expect(await bench.events('a')).toEqual(['added', ...Array(3).fill(['claimed', 'resent']).flat()]);
  });

  it('allows fifteen resends by default, or as many as the job sets', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b', policy: { maxResends: 0 } });
    const [, b] = await bench.claim({ limit: 2 });
    expect(await bench.settle(b!, resend())).toMatchObject({ state: 'failed' });
    await bench.settle((await bench.job('a')) as typeof b & object, resend());
    for (let resends = 1; resends < 15; resends += 1) await bench.settle(await bench.claimOne(), resend());
    expect(await bench.job('a')).toMatchObject({ state: 'waiting', resends: 15 });
    expect(await bench.settle(await bench.claimOne(), resend())).toMatchObject({ state: 'failed' });
  });

  it('releases to the front, as an interruption', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(9);
    expect(await bench.settle(job, release)).toEqual({ ok: true, state: 'waiting' });
    expect(await bench.job('a')).toMatchObject({ interruptions: 1, failures: 0, crashes: 0, returnedAt: START + 9 });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'released', note: 'drain' });
    expect(await bench.claimOne()).toMatchObject({ id: 'a', attempt: 2, returnedAt: null });
  });

  it('crashes: reported before its lease expires, and counted like a lost lease', async () => {
    const bench = await open();
    await bench.setQueue('q', { maxCrashes: 2 });
    const job = await bench.running({ id: 'a' });
    const outcome: Outcome = { kind: 'crash', reason: 'its shim died' };
    bench.pass(9);
    expect(await bench.settle(job, outcome)).toEqual({ ok: true, state: 'waiting' });
    expect(await bench.job('a')).toMatchObject({ crashes: 1, failures: 0, interruptions: 0, returnedAt: START + 9 });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'lost', note: 'its shim died' });
    expect(await bench.settle(job, outcome)).toEqual({ ok: true, state: 'waiting' });
    expect(await bench.settle(await bench.claimOne(), outcome)).toEqual({ ok: true, state: 'failed' });
    const failure = { group: 'crashed', message: 'its worker was lost 2 times', detail: 'its shim died' };
    expect(await bench.job('a')).toMatchObject({ crashes: 2, failure, lease: null });
  });

  it("crashes by the queue's rule: fails, or counts a failure", async () => {
    const bench = await open();
    const outcome: Outcome = { kind: 'crash', reason: 'its shim died' };
    await bench.setQueue('q', { onLost: 'fail' });
    expect(await bench.settle(await bench.running({ id: 'a' }), outcome)).toEqual({ ok: true, state: 'failed' });
    await bench.setQueue('q', { lostCountsAs: 'failure', retries: 1 });
    expect(await bench.settle(await bench.running({ id: 'b' }), outcome)).toEqual({ ok: true, state: 'waiting' });
    expect(await bench.job('b')).toMatchObject({ failures: 1, crashes: 0 });
  });

  it('forwards: done, with the address it went to', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    const outcome: Outcome = { kind: 'forward', address: 'http://other:3333/q/x/1' };
    expect(await bench.settle(job, outcome)).toEqual({ ok: true, state: 'done' });
    expect(await bench.job('a')).toMatchObject({ forwardedTo: outcome.address, result: null, endedAt: START });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'forwarded', note: outcome.address });
  });

  it('advances to its next queue with its counters at zero', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 9 });
    await bench.add({ id: 'a', data: '1', priority: 4, tags: ['t'], name: 'n' });
    await bench.settle(await bench.claimOne(), fail());
    await bench.settle(await bench.claimOne(), resend());
    await bench.settle(await bench.claimOne(), release);
    await bench.claimOne();
    await bench.loseLeases();
    const job = await bench.claimOne();
    expect(job).toMatchObject({ failures: 1, resends: 1, crashes: 1, interruptions: 1, attempt: 5 });
    await bench.heartbeat(job, { checkpoint: '1', progress: { percent: 1, text: null } });
    const next = { queue: 'second', delayMs: 20 };
    expect(await bench.settle(job, { kind: 'complete', result: '5', data: '2', next })).toEqual({
      ok: true,
      state: 'waiting',
    });
    const counters = { failures: 0, resends: 0, crashes: 0, interruptions: 0, attempt: 5 };
    const kept = { priority: 4, tags: ['t'], name: 'n', data: '2' };
    const cleared = { lease: null, checkpoint: null, progress: null, result: null, failure: null, endedAt: null };
    expect(await bench.job('a')).toMatchObject({
      queue: 'second',
      runAt: bench.now + 20,
      ...counters,
      ...kept,
      ...cleared,
    });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({
      event: 'advanced',
      state: 'waiting',
      note: 'second',
    });
    bench.pass(20);
    expect(await bench.claimIds({ queues: ['q', 'second'] })).toEqual(['a']);
  });

  it('settles many in one call, each independently', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' });
    const [a, b, c] = await bench.claim();
    const results = await bench.jobs.settle([
      { ...complete, id: 'a', token: a!.lease.token } as never,
      { ...complete, id: 'b', token: a!.lease.token } as never,
      { ...complete, id: 'none', token: 1 } as never,
      { ...release, id: 'c', token: c!.lease.token } as never,
      { ...complete, id: 'c', token: c!.lease.token } as never,
    ]);
    expect(results.map(outcomeOf)).toEqual(['ok', 'lease-lost', 'not-found', 'ok', 'lease-lost']);
    expect(await bench.states('a', 'b', 'c')).toEqual(['done', 'running', 'waiting']);
    expect(await bench.settle(b!, complete)).toMatchObject({ ok: true });
  });
}
