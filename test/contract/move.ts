/** Move: another queue for a job that has not ended; for a running job only with steal. */
import { expect, it } from 'vitest';
import type { Open } from './contract.ts';
import { complete, fail, outcomeOf, release, START } from './workbench.ts';

export function moveContract(open: Open): void {
  it('moves a waiting job to another queue, in claim order there', async () => {
    const bench = await open();
    await bench.add({ id: 'a', priority: 1, delayMs: 5 }, { id: 'b', queue: 'second', priority: 2 });
    expect(await bench.jobs.move([{ id: 'a', queue: 'second' }])).toEqual([{ ok: true, state: 'waiting' }]);
    expect(await bench.job('a')).toMatchObject({ queue: 'second', priority: 1, runAt: START + 5, attempt: 0 });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'moved', note: 'second', token: null });
    bench.pass(5);
    expect(await bench.claimIds({ queues: ['q'] })).toEqual([]);
    expect(await bench.claimIds({ queues: ['second'] })).toEqual(['a', 'b']);
  });

  it('leaves a draft a draft', async () => {
    const bench = await open();
    await bench.add({ id: 'a', draft: true, delayMs: 5 });
    expect(await bench.jobs.move([{ id: 'a', queue: 'second' }])).toEqual([{ ok: true, state: 'draft' }]);
    expect(await bench.job('a')).toMatchObject({ state: 'draft', queue: 'second', delayMs: 5 });
  });

  it('removes returned work from the front', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', priority: 5 });
    await bench.settle(job, release);
    await bench.add({ id: 'b', queue: 'second' });
    await bench.jobs.move([{ id: 'a', queue: 'second' }]);
    expect((await bench.job('a')).returnedAt).toBeNull();
    expect(await bench.claimIds({ queues: ['second'] })).toEqual(['b', 'a']);
  });

  it('can be repeated, and succeeds if the job is there already', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    const ask = () => bench.jobs.move([{ id: 'a', queue: 'second' }]);
    expect(await ask()).toEqual([{ ok: true, state: 'waiting' }]);
    expect(await ask()).toEqual([{ ok: true, state: 'waiting' }]);
    expect(await bench.events('a')).toEqual(['added', 'moved']);
  });

  it('is refused while the job runs, unless it is stolen', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.heartbeat(job, { progress: { percent: 3, text: null }, checkpoint: '1' });
    expect((await bench.jobs.move([{ id: 'a', queue: 'second' }])).map(outcomeOf)).toEqual(['wrong-state']);
    expect((await bench.jobs.move([{ id: 'a', queue: 'q' }])).map(outcomeOf)).toEqual(['wrong-state']);
    const steal = { id: 'a', queue: 'second', steal: true };
    expect(await bench.jobs.move([steal])).toEqual([{ ok: true, state: 'waiting' }]);
    expect(await bench.job('a')).toMatchObject({ interruptions: 1, lease: null, progress: null, checkpoint: '1' });
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'moved', token: job.lease.token });
    expect(await bench.jobs.move([steal])).toEqual([{ ok: true, state: 'waiting' }]);
    expect((await bench.job('a')).interruptions).toBe(1);
  });

  it('steals within the same queue too', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    expect(await bench.jobs.move([{ id: 'a', queue: 'q', steal: true }])).toEqual([{ ok: true, state: 'waiting' }]);
    expect(outcomeOf(await bench.heartbeat(job))).toBe('lease-lost');
    expect((await bench.claimOne({ worker: 'other' })).attempt).toBe(2);
  });

  it('is refused for an ended job, unless it is there already', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'done' }), complete);
    await bench.settle(await bench.running({ id: 'failed' }), fail());
    const results = await bench.jobs.move([
      { id: 'done', queue: 'second', steal: true },
      { id: 'failed', queue: 'second' },
      { id: 'failed', queue: 'q' },
      { id: 'none', queue: 'second' },
    ]);
    expect(results.map(outcomeOf)).toEqual(['wrong-state', 'wrong-state', 'ok', 'not-found']);
    expect(await bench.states('done', 'failed')).toEqual(['done', 'failed']);
  });

  it('is refused if the job was claimed since the caller saw it', async () => {
    const bench = await open();
    await bench.running({ id: 'a' });
    const steal = { id: 'a', queue: 'second', steal: true };
    expect((await bench.jobs.move([{ ...steal, attempt: 0 }])).map(outcomeOf)).toEqual(['moved-on']);
    expect((await bench.jobs.move([{ ...steal, attempt: 1 }])).map(outcomeOf)).toEqual(['ok']);
  });

  it('is refused by a queue that is down, and accepted by a paused one', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    await bench.setQueue('down', { state: 'down' });
    await bench.setQueue('paused', { state: 'paused' });
    expect((await bench.jobs.move([{ id: 'a', queue: 'down' }])).map(outcomeOf)).toEqual(['queue-down']);
    expect((await bench.job('a')).queue).toBe('q');
    expect((await bench.jobs.move([{ id: 'a', queue: 'paused' }])).map(outcomeOf)).toEqual(['ok']);
    expect(await bench.claimIds({ queues: ['q', 'paused'] })).toEqual([]);
  });
}
