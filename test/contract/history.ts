/** History: one row for each change, append-only, capped, and sufficient to derive the job's state. */
import { expect, it } from 'vitest';
import { type HistoryRow, MAX_HISTORY } from '../../src/core/job/history.ts';
import type { JobState } from '../../src/core/job/job.ts';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, release, resend, START } from './workbench.ts';

/** The state that follows from the history alone. */
function stateOf(rows: readonly HistoryRow[]): JobState | undefined {
  return rows.findLast(({ event }) => event !== 'late' && event !== 'changed')?.state;
}

export function historyContract(open: Open): void {
  it("has a row for each change of a job's life", async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 1 });
    await bench.add({ id: 'a', draft: true });
    await bench.jobs.commit(['a']);
    await bench.jobs.change([{ id: 'a', priority: 1 }]);
    await bench.settle(await bench.claimOne(), fail());
    await bench.settle(await bench.claimOne(), resend());
    await bench.settle(await bench.claimOne(), release);
    const lost = await bench.claimOne();
    await bench.loseLeases();
    await bench.settle(lost, complete);
    await bench.jobs.move([{ id: 'a', queue: 'second' }]);
    await bench.claimOne({ queues: ['second'] });
    await bench.jobs.cancel([{ id: 'a' }]);
    await bench.jobs.endWorker({ id: 'w', kind: 'fail' });
    await bench.jobs.requeue([{ id: 'a' }]);
    await bench.settle(await bench.claimOne({ queues: ['second'] }), complete);
    expect(await bench.events('a')).toEqual([
      'added',
      'committed',
      'changed',
      'claimed',
      'failed',
      'claimed',
      'resent',
      'claimed',
      'released',
      'claimed',
      'lost',
      'late',
      'moved',
      'claimed',
      'cancel-asked',
      'cancelled',
      'requeued',
      'claimed',
      'completed',
    ]);
  });

  it('gives the state at every step', async () => {
    const bench = await open();
    const agree = async () => expect(stateOf(await bench.jobs.history('a'))).toBe((await bench.job('a')).state);
    const steps: readonly (() => Promise<unknown>)[] = [
      () => bench.add({ id: 'a', draft: true }),
      () => bench.jobs.move([{ id: 'a', queue: 'x' }]),
      () => bench.jobs.commit(['a']),
      () => bench.claimOne({ queues: ['x'] }),
      () => bench.jobs.change([{ id: 'a', pause: true }]),
      () => bench.loseLeases(),
      () => bench.claimOne({ queues: ['x'] }),
      () => bench.jobs.cancel([{ id: 'a' }]),
      () => bench.loseLeases(),
      () => bench.jobs.change([{ id: 'a', name: 'n' }]),
      () => bench.jobs.requeue([{ id: 'a', queue: 'q' }]),
      async () => bench.settle(await bench.claimOne(), { kind: 'complete', next: { queue: 'x', delayMs: 0 } }),
      async () => bench.settle(await bench.claimOne({ queues: ['x'] }), { kind: 'forward', address: 'y' }),
    ];
    for (const step of steps) {
      await step();
      await agree();
    }
  });

  it('has time, worker, attempt and token', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    bench.pass(5);
    const job = await bench.claimOne({ worker: 'w-7' });
    bench.pass(5);
    await bench.settle(job, fail());
    const attempt = { attempt: 1, token: job.lease.token, by: 'w-7' };
    expect(await bench.jobs.history('a')).toEqual([
      { at: START, event: 'added', state: 'waiting', attempt: 0, token: null, by: null, note: null },
      { at: START + 5, event: 'claimed', state: 'running', ...attempt, note: null },
      { at: START + 10, event: 'failed', state: 'failed', ...attempt, note: 'it broke' },
    ]);
  });

  it('keeps a hundred rows: the first and the latest', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    for (let round = 1; round <= 60; round += 1) {
      bench.pass(1);
      await bench.settle(await bench.claimOne(), release);
    }
    const rows = await bench.jobs.history('a');
    expect(rows).toHaveLength(MAX_HISTORY);
    expect(rows[0]).toMatchObject({ event: 'added', at: START });
    expect(rows.slice(1).map(({ event }) => event)).toEqual([
      'released',
      ...Array(49).fill(['claimed', 'released']).flat(),
    ]);
    expect(rows.at(-1)).toMatchObject({ at: START + 60, attempt: 60 });
    expect(rows[1]).toMatchObject({ at: START + 11, attempt: 11 });
    expect((await bench.job('a')).attempt).toBe(60);
  });

  it('has no rows of other jobs', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'a:b' }, { id: 'b' });
    await bench.claim({ limit: 2 });
    expect(await bench.events('a')).toEqual(['added', 'claimed']);
    expect(await bench.events('b')).toEqual(['added']);
    expect(await bench.events('none')).toEqual([]);
  });

  it('is not changed by reads', async () => {
    const bench = await open();
    await bench.running({ id: 'a' });
    bench.pass(10 * LEASE_MS);
    await bench.jobs.find(['a']);
    await bench.jobs.list({ order: 'newest', limit: 10 });
    await bench.jobs.list({ order: 'claim', queue: 'q', limit: 10 });
    await bench.jobs.count();
    await bench.jobs.insight({ kind: 'failures' });
    await bench.jobs.workers();
    expect(await bench.events('a')).toEqual(['added', 'claimed']);
    expect(await bench.states('a')).toEqual(['running']);
  });
}
