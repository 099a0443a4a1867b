/** Change and delete. */
import { expect, it } from 'vitest';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, outcomeOf, release, START } from './workbench.ts';

export function changeContract(open: Open): void {
  it('changes only the named fields', async () => {
    const bench = await open();
    await bench.add({ id: 'a', name: 'old', data: '1', priority: 1, tags: ['x'] });
    const before = await bench.job('a');
    expect(await bench.jobs.change([{ id: 'a', priority: 2 }])).toEqual([{ ok: true, state: 'waiting' }]);
    expect(await bench.job('a')).toEqual({ ...before, priority: 2 });
    const all = { priority: 0, tags: ['y', 'z'], runAt: START + 9, name: 'new', data: '2' };
    await bench.jobs.change([{ id: 'a', ...all }]);
    expect(await bench.job('a')).toEqual({ ...before, ...all });
    await bench.jobs.change([{ id: 'a', tags: [] }]);
    expect((await bench.job('a')).tags).toEqual([]);
    expect(await bench.events('a')).toEqual(['added', 'changed', 'changed', 'changed']);
  });

  it('keeps notes in the history, in any state', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a' }), complete);
    const before = await bench.job('a');
    await bench.jobs.change([{ id: 'a', note: 'looked into it: ünd \u{1f600}' }]);
    expect(await bench.job('a')).toEqual(before);
    const row = { event: 'changed', state: 'done', note: 'looked into it: ünd \u{1f600}' };
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject(row);
  });

  it('moves a waiting job to another position', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c', delayMs: 100 }, { id: 'd' });
    await bench.jobs.change([
      { id: 'd', priority: -1 },
      { id: 'a', runAt: START + 50 },
      { id: 'c', runAt: START - 1 },
    ]);
    expect(await bench.claimIds()).toEqual(['d', 'c', 'b']);
    bench.pass(50);
    expect(await bench.claimIds()).toEqual(['a']);
  });

  it('keeps the position of returned work', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    for (const job of await bench.claim()) {
      await bench.settle(job, release);
      bench.pass(1);
    }
    await bench.jobs.change([
      { id: 'a', priority: 5 },
      { id: 'b', priority: -5 },
    ]);
    expect(await bench.claimIds()).toEqual(['a', 'b']);
  });

  it('changes name, tags and priority of a running job under its lease, and requests a pause', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(5);
    await bench.jobs.change([{ id: 'a', name: 'n', tags: ['t'], priority: 3, pause: true }]);
    const lease = { ...job.lease, pauseAskedAt: START + 5 };
    expect(await bench.job('a')).toEqual({ ...job, name: 'n', tags: ['t'], priority: 3, lease });
    await bench.jobs.change([{ id: 'a', pause: false }]);
    expect((await bench.job('a')).lease).toEqual(job.lease);
    expect(await bench.settle(job, complete)).toMatchObject({ ok: true });
  });

  it('is refused in states that do not allow it', async () => {
    const bench = await open();
    await bench.add({ id: 'waiting' }, { id: 'draft', draft: true });
    await bench.running({ id: 'running', queue: 'other' });
    await bench.settle(await bench.running({ id: 'done', queue: 'third' }), complete);
    const results = await bench.jobs.change([
      { id: 'running', data: '1' },
      { id: 'running', runAt: 0 },
      { id: 'done', data: '1' },
      { id: 'done', runAt: 0 },
      { id: 'done', priority: 1 },
      { id: 'done', pause: true },
      { id: 'waiting', pause: true },
      { id: 'draft', pause: false },
      { id: 'none', priority: 1 },
      { id: 'running', attempt: 0, priority: 1 },
    ]);
    expect(results.map(outcomeOf)).toEqual([...Array(8).fill('wrong-state'), 'not-found', 'moved-on']);
    const good = await bench.jobs.change([
      { id: 'done', name: 'n', tags: ['t'] },
      { id: 'draft', data: '1', runAt: 5, priority: 1 },
      { id: 'running', attempt: 1, priority: 1 },
    ]);
    expect(good.map(outcomeOf)).toEqual(['ok', 'ok', 'ok']);
  });

  it('deletes a job of any state except running, with its history', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'done' }), complete);
    await bench.settle(await bench.running({ id: 'failed' }), fail());
    await bench.add({ id: 'cancelled' });
    await bench.jobs.cancel([{ id: 'cancelled' }]);
    await bench.add({ id: 'draft', draft: true }, { id: 'waiting' });
    const states = ['done', 'failed', 'cancelled', 'draft', 'waiting'] as const;
    expect(await bench.jobs.delete(states)).toEqual(states.map((state) => ({ ok: true, state })));
    expect(await bench.states(...states)).toEqual(states.map(() => null));
    for (const id of states) expect(await bench.jobs.history(id)).toEqual([]);
    expect(await bench.jobs.count(['q'])).toEqual([
      {
        queue: 'q',
        draft: 0,
        waiting: 0,
        running: 0,
        done: 0,
        failed: 0,
        cancelled: 0,
        blocked: 0,
        scheduled: 0,
        relayed: 0,
      },
    ]);
    expect(await bench.jobs.insight({ kind: 'failures' })).toEqual([]);
    expect((await bench.jobs.list({ order: 'newest', limit: 10 })).jobs).toEqual([]);
    expect(await bench.claimIds()).toEqual([]);
  });

  it('refuses to delete running and missing jobs', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    expect((await bench.jobs.delete(['a', 'none', 'none'])).map(outcomeOf)).toEqual([
      'wrong-state',
      'not-found',
      'not-found',
    ]);
    bench.pass(LEASE_MS);
    expect((await bench.jobs.delete(['a'])).map(outcomeOf)).toEqual(['wrong-state']);
    expect(await bench.settle(job, complete)).toMatchObject({ ok: true });
    expect((await bench.jobs.delete(['a', 'a'])).map(outcomeOf)).toEqual(['ok', 'not-found']);
  });

  it('deletes returned and scheduled jobs for good', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a' }), release);
    await bench.add({ id: 'b', delayMs: 5 });
    await bench.jobs.delete(['a', 'b']);
    bench.pass(10);
    expect(await bench.requestClaim()).toMatchObject({ jobs: [], nextAt: null });
  });
}
