/** Drafts: not claimable until a commit, deleted after a week. */
import { expect, it } from 'vitest';
import { DRAFT_TTL_MS } from '../../src/core/settings/settings.ts';
import type { Open } from './contract.ts';
import { complete, outcomeOf, START } from './workbench.ts';

const unique = { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 } as const;

export function draftContract(open: Open): void {
  it('are never claimed, whatever their run time', async () => {
    const bench = await open();
    expect(await bench.add({ id: 'a', draft: true, priority: -9, runAt: 0 })).toEqual([
      { ok: true, outcome: 'added', id: 'a', queue: 'q', state: 'draft' },
    ]);
    bench.pass(1_000);
    expect(await bench.requestClaim()).toMatchObject({ jobs: [], nextAt: null });
    expect(await bench.jobs.count(['q'])).toMatchObject([{ draft: 1, waiting: 0, scheduled: 0 }]);
  });

  it('wait from their commit on, with their delay counted from it', async () => {
    const bench = await open();
    await bench.add(
      { id: 'a', draft: true, delayMs: 50 },
      { id: 'b', draft: true },
      { id: 'c', draft: true, runAt: START + 500 },
    );
    expect((await bench.job('a')).delayMs).toBe(50);
    bench.pass(100);
    expect(await bench.jobs.commit(['a', 'b', 'c'])).toEqual([1, 2, 3].map(() => ({ ok: true, state: 'waiting' })));
    const found = await bench.jobs.find(['a', 'b', 'c']);
    expect(found.map((job) => [job?.runAt, job?.delayMs])).toEqual([
      [START + 150, 50],
      [START + 100, 0],
      [START + 500, null],
    ]);
    expect(await bench.events('a')).toEqual(['added', 'committed']);
    expect(await bench.claimIds()).toEqual(['b']);
  });

  it('can be committed again, which returns their present state', async () => {
    const bench = await open();
    await bench.add({ id: 'a', draft: true });
    await bench.jobs.commit(['a']);
    const kept = await bench.job('a');
    bench.pass(10);
    expect(await bench.jobs.commit(['a', 'a'])).toEqual([
      { ok: true, state: 'waiting' },
      { ok: true, state: 'waiting' },
    ]);
    expect(await bench.job('a')).toEqual(kept);
    await bench.settle(await bench.claimOne(), complete);
    expect(await bench.jobs.commit(['a', 'none'])).toMatchObject([
      { ok: true, state: 'done' },
      { ok: false, refusal: { code: 'not-found' } },
    ]);
  });

  it('take their unique key at the commit, and are refused if it is taken', async () => {
    const bench = await open();
    await bench.add({ id: 'a', draft: true, unique }, { id: 'b', draft: true, unique });
    expect(await bench.add({ id: 'c', unique })).toMatchObject([{ outcome: 'added' }]);
    expect(await bench.jobs.commit(['a'])).toMatchObject([{ ok: false, refusal: { code: 'key-taken', holder: 'c' } }]);
    expect(await bench.states('a')).toEqual(['draft']);
    await bench.jobs.delete(['c']);
    expect((await bench.jobs.commit(['a', 'b'])).map(outcomeOf)).toEqual(['ok', 'key-taken']);
    expect(await bench.add({ id: 'd', unique })).toMatchObject([{ outcome: 'duplicate', id: 'a' }]);
  });

  it('do not affect a key when they are cancelled or deleted', async () => {
    const bench = await open();
    await bench.add({ id: 'a', unique }, { id: 'b', draft: true, unique }, { id: 'c', draft: true, unique });
    await bench.jobs.cancel([{ id: 'b' }]);
    await bench.jobs.delete(['c']);
    expect(await bench.add({ id: 'd', unique })).toMatchObject([{ outcome: 'duplicate', id: 'a' }]);
  });

  it('expire after a week, and waiting jobs do not', async () => {
    const bench = await open();
    await bench.add({ id: 'old', draft: true }, { id: 'waiting' });
    bench.pass(1);
    await bench.add({ id: 'young', draft: true }, { id: 'committed', draft: true });
    await bench.jobs.commit(['committed']);
    bench.pass(DRAFT_TTL_MS - 1);
    expect(await bench.jobs.maintain({ limit: 10 })).toMatchObject({ expiredDrafts: 0 });
    bench.pass(1);
    expect(await bench.jobs.maintain({ limit: 10 })).toMatchObject({ expiredDrafts: 1, pruned: 0 });
    expect(await bench.states('old', 'young', 'waiting', 'committed')).toEqual([null, 'draft', 'waiting', 'waiting']);
  });

  it('are refused by a queue that is down', async () => {
    const bench = await open();
    await bench.setQueue('q', { state: 'down' });
    expect((await bench.add({ id: 'a', draft: true })).map(outcomeOf)).toEqual(['queue-down']);
  });
}
