/** Unique keys: the holder, how long it holds the key, and that no key leaks. */
import { expect, it } from 'vitest';
import type { UniqueKey } from '../../src/core/job/job.ts';
import type { Open } from './contract.ts';
import { complete, fail, outcomeOf, release, resend, retry, type Workbench } from './workbench.ts';

const aKey = (unique: Partial<UniqueKey> = {}): UniqueKey => ({
  key: 'k',
  scope: 'queue',
  until: 'ended',
  periodMs: 0,
  ...unique,
});
const unique = aKey();

/** Returns the present holder of the key, by adding a job with the key and deleting it again. */
async function holderOf(bench: Workbench, wanted: UniqueKey = unique, queue = 'q'): Promise<string | null> {
  const [result] = await bench.add({ id: 'probe', queue, unique: wanted });
  await bench.jobs.delete(['probe']);
  if (result?.ok !== true) throw new Error('the probe was refused');
  return result.outcome === 'duplicate' ? result.id : null;
}

const debounce = (maxWaitMs: number | null) => ({ kind: 'debounce', maxWaitMs }) as const;
const replace = { kind: 'replace', maxWaitMs: null } as const;

export function uniqueContract(open: Open): void {
  it('gives a waiting holder the data of a later job with replace, and keeps its position', async () => {
    const bench = await open();
    await bench.add({ id: 'a', unique, data: '1' }, { id: 'z' });
    const later = { unique, onTaken: replace, data: '2' };
    expect(await bench.add({ id: 'b', ...later }, { id: 'c', ...later, data: `"${'3'.repeat(2_000)}"` })).toEqual([
      { ok: true, outcome: 'replaced', id: 'a', queue: 'q', state: 'waiting' },
      { ok: true, outcome: 'replaced', id: 'a', queue: 'q', state: 'waiting' },
    ]);
    expect((await bench.job('a')).data).toBe(`"${'3'.repeat(2_000)}"`);
    expect(await bench.events('a')).toEqual(['added', 'changed', 'changed']);
    expect(await bench.states('b', 'c')).toEqual([null, null]);
    expect(await bench.claimIds()).toEqual(['a', 'z']);
    expect(await bench.add({ id: 'b', ...later })).toMatchObject([{ outcome: 'duplicate', id: 'a', state: 'running' }]);
  });

  it('postpones a waiting holder with each later job with debounce, up to a limit', async () => {
    const bench = await open();
    const later = { unique, delayMs: 100, onTaken: debounce(250) };
    await bench.add({ id: 'a', ...later, data: '0' });
    const runAts: number[] = [];
    for (const data of ['1', '2', '3']) {
      bench.pass(80);
      await bench.add({ id: 'b', ...later, data });
      runAts.push((await bench.job('a')).runAt - bench.now);
    }
    expect(runAts).toEqual([100, 90, 10]);
    bench.pass(9);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(1);
    const { data } = await bench.claimOne();
    expect(data).toBe('3');
  });

  it('adds both in one call and still creates one job', async () => {
    const bench = await open();
    const results = await bench.add(
      { id: 'a', unique },
      { id: 'b', unique, delayMs: 50, onTaken: debounce(null), data: '7' },
    );
    expect(results).toMatchObject([{ outcome: 'added' }, { outcome: 'replaced', id: 'a' }]);
    expect((await bench.jobs.count(['q']))[0]).toMatchObject({ waiting: 1, scheduled: 1 });
    bench.pass(50);
    expect(await bench.claimIds()).toEqual(['a']);
    expect((await bench.jobs.count(['q']))[0]).toMatchObject({ waiting: 0, running: 1 });
  });

  it('answers a duplicate with the holder of the key, and writes nothing', async () => {
    const bench = await open();
    await bench.running({ id: 'a', unique });
    expect(await bench.add({ id: 'b', unique }, { id: 'c', unique: aKey({ key: 'other' }) })).toEqual([
      { ok: true, outcome: 'duplicate', id: 'a', queue: 'q', state: 'running' },
      { ok: true, outcome: 'added', id: 'c', queue: 'q', state: 'waiting' },
    ]);
    expect(await bench.jobs.find(['b'])).toEqual([null]);
    expect(await bench.add({ id: 'a', unique })).toMatchObject([{ outcome: 'exists' }]);
  });

  it('takes the key at once, also within one call', async () => {
    const bench = await open();
    const results = await bench.add({ id: 'a', unique }, { id: 'b', unique });
    expect(results).toMatchObject([{ outcome: 'added' }, { outcome: 'duplicate', id: 'a' }]);
  });

  it('keeps the keys of a queue and those of the store apart', async () => {
    const bench = await open();
    const inStore = aKey({ scope: 'store' });
    const results = await bench.add(
      { id: 'a', unique },
      { id: 'b', queue: 'second', unique },
      { id: 'c', queue: 'third', unique: inStore },
      { id: 'd', unique: inStore },
    );
    expect(results.map((result) => result.ok && result.outcome)).toEqual(['added', 'added', 'added', 'duplicate']);
    expect(results.at(-1)).toMatchObject({ id: 'c', queue: 'third' });
  });

  it('holds the key through retries, releases and losses until the job has ended', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 9 });
    await bench.add({ id: 'a', unique });
    for (const said of [fail(), retry(), resend(), release]) {
      const job = await bench.claimOne();
      expect(await holderOf(bench)).toBe('a');
      await bench.settle(job, said);
      expect(await holderOf(bench)).toBe('a');
    }
    await bench.claimOne();
    await bench.loseLeases();
    expect(await holderOf(bench)).toBe('a');
  });

  it('releases the key at every end', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'done', unique }), complete);
    expect(await holderOf(bench)).toBeNull();
    await bench.settle(await bench.running({ id: 'relayed', unique }), { kind: 'forward', address: 'there' });
    expect(await holderOf(bench)).toBeNull();
    await bench.settle(await bench.running({ id: 'failed', unique }), fail());
    expect(await holderOf(bench)).toBeNull();
    await bench.settle(await bench.running({ id: 'resent', unique, policy: { maxResends: 0 } }), resend());
    expect(await holderOf(bench)).toBeNull();
    await bench.add({ id: 'cancelled', unique });
    await bench.jobs.cancel([{ id: 'cancelled' }]);
    expect(await holderOf(bench)).toBeNull();
    await bench.add({ id: 'deleted', unique });
    await bench.jobs.delete(['deleted']);
    expect(await holderOf(bench)).toBeNull();
    await bench.setQueue('q', { maxCrashes: 1 });
    await bench.running({ id: 'crashed', unique });
    await bench.loseLeases();
    expect(await bench.states('crashed')).toEqual(['failed']);
    expect(await holderOf(bench)).toBeNull();
  });

  it('holds the key of a job with a cancel request until it has ended', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', unique });
    await bench.jobs.cancel([{ id: 'a' }]);
    expect(await holderOf(bench)).toBe('a');
    await bench.settle(job, release);
    expect(await holderOf(bench)).toBeNull();
    await bench.running({ id: 'b', unique });
    await bench.jobs.cancel([{ id: 'b' }]);
    await bench.loseLeases();
    expect(await holderOf(bench)).toBeNull();
  });

  it('releases a key until started at the claim, and does not take it back', async () => {
    const bench = await open();
    const started = aKey({ until: 'started' });
    await bench.add({ id: 'a', unique: started });
    expect(await holderOf(bench, started)).toBe('a');
    const job = await bench.claimOne();
    expect(await holderOf(bench, started)).toBeNull();
    await bench.add({ id: 'b', unique: started });
    await bench.settle(job, release);
    expect(await holderOf(bench, started)).toBe('b');
    await bench.claimOne();
    expect(await holderOf(bench, started)).toBe('b');
    await bench.jobs.cancel([{ id: 'b' }]);
    expect(await holderOf(bench, started)).toBeNull();
  });

  it('holds a key for a period, counted from when it was taken, whatever becomes of the job', async () => {
    const bench = await open();
    const period = aKey({ until: 'period', periodMs: 1_000 });
    bench.pass(5);
    await bench.settle(await bench.running({ id: 'a', unique: period }), complete);
    bench.pass(999);
    expect(await holderOf(bench, period)).toBe('a');
    bench.pass(1);
    expect(await holderOf(bench, period)).toBeNull();
    await bench.add({ id: 'b', unique: period });
    expect(await holderOf(bench, period)).toBe('b');
    await bench.jobs.delete(['a']);
    expect(await holderOf(bench, period)).toBe('b');
    await bench.jobs.delete(['b']);
    expect(await holderOf(bench, period)).toBeNull();
  });

  it('leaves no key behind in another queue, even after the clock is set back', async () => {
    const bench = await open();
    const period = aKey({ until: 'period', periodMs: 1_000 });
    await bench.add({ id: 'a', unique: period });
    bench.pass(1_000);
    await bench.jobs.move([{ id: 'a', queue: 'second' }]);
    bench.pass(-1_000);
    expect(await holderOf(bench, period)).toBeNull();
    expect(await holderOf(bench, period, 'second')).toBeNull();
  });

  it('takes the key again on a requeue, and refuses a requeue if it is taken', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a', unique }), fail());
    await bench.add({ id: 'b', unique });
    expect(await bench.jobs.requeue([{ id: 'a' }])).toMatchObject([
      { ok: false, refusal: { code: 'key-taken', holder: 'b' } },
    ]);
    expect(await bench.states('a')).toEqual(['failed']);
    expect((await bench.jobs.requeue([{ id: 'a', queue: 'second' }])).map(outcomeOf)).toEqual(['ok']);
    expect(await holderOf(bench, unique, 'second')).toBe('a');
    expect(await holderOf(bench)).toBe('b');
    await bench.jobs.cancel([{ id: 'b' }, { id: 'a' }]);
    await bench.jobs.requeue([{ id: 'b' }]);
    expect(await holderOf(bench)).toBe('b');
  });

  it('moves the key to another queue, and refuses a move if it is taken there', async () => {
    const bench = await open();
    await bench.add({ id: 'a', unique }, { id: 'b', queue: 'second', unique });
    expect(await bench.jobs.move([{ id: 'a', queue: 'second' }])).toMatchObject([
      { ok: false, refusal: { code: 'key-taken', holder: 'b' } },
    ]);
    expect((await bench.job('a')).queue).toBe('q');
    expect((await bench.jobs.move([{ id: 'a', queue: 'third' }])).map(outcomeOf)).toEqual(['ok']);
    expect(await holderOf(bench)).toBeNull();
    expect(await holderOf(bench, unique, 'third')).toBe('a');
    await bench.jobs.delete(['a']);
    expect(await holderOf(bench, unique, 'third')).toBeNull();
  });

  it('keeps a key of the store through moves', async () => {
    const bench = await open();
    const inStore = aKey({ scope: 'store' });
    await bench.add({ id: 'a', unique: inStore });
    await bench.jobs.move([{ id: 'a', queue: 'second' }]);
    expect(await holderOf(bench, inStore, 'third')).toBe('a');
    await bench.jobs.cancel([{ id: 'a' }]);
    expect(await holderOf(bench, inStore, 'third')).toBeNull();
  });

  it('moves the key to the next queue, if it is free there', async () => {
    const bench = await open();
    const next = { queue: 'second', delayMs: 0 };
    await bench.settle(await bench.running({ id: 'a', unique }), { kind: 'complete', next });
    expect(await holderOf(bench)).toBeNull();
    expect(await holderOf(bench, unique, 'second')).toBe('a');
    await bench.settle(await bench.running({ id: 'b', unique }), { kind: 'complete', next });
    expect(await bench.job('b')).toMatchObject({ queue: 'second', state: 'waiting' });
    expect(await holderOf(bench)).toBeNull();
    await bench.jobs.cancel([{ id: 'b' }]);
    expect(await holderOf(bench, unique, 'second')).toBe('a');
  });

  it('releases the key of a job that retention deletes', async () => {
    const bench = await open();
    const period = aKey({ until: 'period', periodMs: 100 * 86_400_000 });
    await bench.settle(await bench.running({ id: 'a', unique: period }), complete);
    expect(await holderOf(bench, period)).toBe('a');
    bench.pass(8 * 86_400_000);
    await bench.jobs.maintain({ limit: 10 });
    expect(await bench.states('a')).toEqual([null]);
    expect(await holderOf(bench, period)).toBeNull();
  });

  it('keeps the key of a stolen job with it', async () => {
    const bench = await open();
    await bench.running({ id: 'a', unique });
    await bench.jobs.move([{ id: 'a', queue: 'second', steal: true }]);
    expect(await holderOf(bench)).toBeNull();
    expect(await holderOf(bench, unique, 'second')).toBe('a');
  });
}
