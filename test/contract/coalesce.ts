/**
 * Coalescing: equal jobs that are claimable when one of them starts are coalesced into it, and end with it or return.
 */
import { expect, test } from 'vitest';
import { labelOf } from '../../src/core/job/label.ts';
import { settingsOf } from '../../src/core/settings/settings.ts';
import type { Open } from './contract.ts';
import { setMax } from './throttles.ts';
import { complete, fail, type Outcome, release, resend, retry, type Workbench } from './workbench.ts';

const of = (id: string, site: unknown, more: object = {}) => ({ id, data: JSON.stringify({ site }), ...more });
const coalesce = { by: ['site'] };

/** Three equal jobs and another one; the first was started. */
async function started(bench: Workbench, settings: object = {}) {
  await bench.setQueue('q', { coalesce, ...settings });
  await bench.add(of('a', 1), of('b', 1), of('other', 2), of('c', 1));
  return bench.claimOne();
}

const FAR = 100_000;

export function coalesceContract(open: Open): void {
  test('Equal claimable jobs are coalesced into the one that starts, and are done with it and its result.', async () => {
    const bench = await open();
    const leader = await started(bench);
    expect([leader.id, leader.folded]).toEqual(['a', 2]);
    expect((await bench.jobs.find(['b', 'c', 'other'])).map((job) => job?.foldedInto)).toEqual(['a', 'a', null]);
    expect(await bench.claimIds()).toEqual(['other']);
    await bench.settle(leader, { kind: 'complete', result: '"built"' });
    const [a, b, c] = await bench.jobs.find(['a', 'b', 'c']);
    expect([a, b, c].map((job) => [job?.state, job?.result, job?.foldedInto, job?.folded])).toEqual([
      ['done', '"built"', null, 2],
      ['done', '"built"', 'a', 0],
      ['done', '"built"', 'a', 0],
    ]);
    expect(await bench.jobs.history('b')).toMatchObject([
      { event: 'added' },
      { event: 'folded', note: 'a', state: 'waiting', attempt: 0 },
      { event: 'completed', note: 'with job a', state: 'done', attempt: 0 },
    ]);
  });

  test('Coalesced jobs wait, are counted and labelled as blocked, and name their leader.', async () => {
    const bench = await open();
    await started(bench);
    const [counts] = await bench.jobs.count(['q']);
    expect([counts?.waiting, counts?.blocked, counts?.running]).toEqual([3, 2, 1]);
    const page = await bench.jobs.list({ queue: 'q', label: 'blocked', order: 'newest', limit: 10 });
    expect(page.jobs.map(({ id }) => id)).toEqual(['c', 'b']);
    expect(labelOf(await bench.job('b'), settingsOf({ coalesce }), bench.now)).toEqual({
      label: 'blocked',
      reason: 'coalesced with job a',
    });
    expect((await bench.jobs.list({ queue: 'q', order: 'claim', limit: 10 })).jobs.map(({ id }) => id)).toEqual([
      'other',
    ]);
  });

  test.each<[string, Outcome, readonly string[]]>([
    ['fails', fail(), ['b']],
    ['fails and is retried later', retry(FAR), ['b']],
    ['is resent later', resend(FAR), ['b']],
    ['is released', release, ['a']],
    ['crashes', { kind: 'crash', reason: 'gone' }, ['a']],
  ])(
    'They return to their old positions when the leader %s, and the next one coalesces them again.',
    async (_how, outcome, next) => {
      const bench = await open();
      const leader = await started(bench, { retries: 1 });
      if (outcome.kind === 'fail') await bench.settle(leader, fail({ final: true }));
      else await bench.settle(leader, outcome);
      expect(await bench.states('b', 'c')).toEqual(['waiting', 'waiting']);
      expect((await bench.job('b')).foldedInto).toBeNull();
      expect(await bench.events('b')).toEqual(['added', 'folded', 'unfolded']);
      const again = await bench.claim();
      expect(again.map(({ id }) => id)).toEqual([...next, 'other']);
      await bench.settle(again[0] as never, complete);
      expect(await bench.states('b', 'c')).toEqual(['done', 'done']);
    },
  );

  test('They return when the leader is lost, its worker is failed, or it is cancelled, moved or restarted.', async () => {
    const bench = await open();
    const ways: readonly (() => Promise<unknown>)[] = [
      () => bench.loseLeases(),
      () => bench.jobs.endWorker({ id: 'w', kind: 'fail' }),
      () => bench.jobs.move([{ id: 'a', queue: 'elsewhere', steal: true }]),
      () => bench.jobs.requeue([{ id: 'a', steal: true, delayMs: FAR }]),
    ];
    for (const way of ways) {
      await started(bench);
      await way();
      expect([way, await bench.states('b', 'c'), await bench.events('c')]).toEqual([
        way,
        ['waiting', 'waiting'],
        ['added', 'folded', 'unfolded'],
      ]);
      await bench.jobs.cancel(['a', 'b', 'c', 'other'].map((id) => ({ id })));
      await bench.jobs.delete(['a', 'b', 'c', 'other']);
    }
    const leader = await started(bench);
    await bench.jobs.cancel([{ id: 'a' }]);
    expect((await bench.job('b')).foldedInto).toBe('a');
    await bench.settle(leader, complete);
    expect(await bench.states('a', 'b', 'c')).toEqual(['cancelled', 'waiting', 'waiting']);
  });

  test('A job that is added while the leader runs is not coalesced: it was not there at the start.', async () => {
    const bench = await open();
    const leader = await started(bench);
    await bench.add(of('late', 1));
    expect(await bench.claimIds()).toEqual(['other', 'late']);
    await bench.settle(leader, complete);
    expect(await bench.states('late', 'b')).toEqual(['running', 'done']);
  });

  test('A queue may coalesce jobs that are scheduled for later, which keep their run time when they return.', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce: { by: ['site'], scheduled: true } });
    await bench.add(of('a', 1), of('later', 1, { delayMs: FAR }), of('other', 2, { delayMs: 2 * FAR }));
    const { runAt } = await bench.job('later');
    const { jobs, nextAt } = await bench.requestClaim({ leaseMs: 9 * FAR });
    expect([jobs[0]?.folded, (await bench.job('later')).foldedInto, nextAt]).toEqual([1, 'a', bench.now + 2 * FAR]);
    await bench.settle(jobs[0] as never, fail({ final: true }));
    expect(await bench.job('later')).toMatchObject({ state: 'waiting', foldedInto: null, runAt });
    expect(await bench.claimIds()).toEqual([]);
    await bench.add(of('b', 1));
    await bench.settle(await bench.claimOne(), complete);
    expect(await bench.states('b', 'later', 'other')).toEqual(['done', 'done', 'waiting']);
  });

  test('A job that is not due, not committed, blocked, in another queue or without all fields is not coalesced.', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce: { by: ['site', 'page.id'] } });
    await bench.setQueue('r', { coalesce: { by: ['site', 'page.id'] } });
    const data = JSON.stringify({ site: 1, page: { id: 'x' } });
    await bench.add({ id: 'parent', queue: 'elsewhere' });
    await bench.add(
      ...['a', 'equal'].map((id) => ({ id, data })),
      { id: 'later', data, delayMs: 1 },
      { id: 'draft', data, draft: true },
      { id: 'child', data, dependsOn: ['parent'] },
      { id: 'there', data, queue: 'r' },
      { id: 'less', data: '{"site":1}' },
      { id: 'text', data: JSON.stringify({ site: '1', page: { id: 'y' } }) },
    );
    const leader = await bench.claimOne();
    const folded = (await bench.jobs.list({ order: 'newest', limit: 20 })).jobs.filter(
      (job) => job.foldedInto !== null,
    );
    expect([leader.folded, folded.map(({ id }) => id)]).toEqual([1, ['equal']]);
    bench.pass(1);
    expect(await bench.claimIds()).toEqual(['less', 'text', 'later']);
  });

  test('A coalesced job can be cancelled, moved, deleted and changed; new data, run time or parents release it.', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce });
    const ids = ['a', 'cancel', 'move', 'delete', 'data', 'time', 'parent', 'priority', 'again'];
    await bench.add({ id: 'p', queue: 'elsewhere' }, ...ids.map((id) => of(id, 1)));
    const leader = await bench.claimOne();
    await bench.jobs.cancel([{ id: 'cancel' }]);
    await bench.jobs.move([{ id: 'move', queue: 'elsewhere' }]);
    await bench.jobs.delete(['delete']);
    await bench.jobs.requeue([{ id: 'again', steal: true }]);
    await bench.jobs.change([
      { id: 'data', data: '{"site":3}' },
      { id: 'time', runAt: bench.now },
      { id: 'parent', dependsOn: { add: ['p'] } },
      { id: 'priority', priority: 7, tags: ['t'], note: 'why' },
    ]);
    const left = (await bench.jobs.find(ids)).filter((job) => job?.foldedInto === 'a').map((job) => job?.id);
    expect(left).toEqual(['priority']);
    await bench.settle(leader, complete);
    expect(await bench.states('cancel', 'move', 'data', 'time', 'parent', 'priority', 'again')).toEqual([
      'cancelled',
      'waiting',
      'waiting',
      'waiting',
      'waiting',
      'done',
      'waiting',
    ]);
    expect(await bench.claimIds()).toEqual(['data', 'time']);
    expect((await bench.job('again')).foldedInto).toBe('time');
  });

  test('A job that was postponed is not coalesced, and one that was brought forward is.', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce });
    await bench.add(of('a', 1), of('off', 1), of('soon', 1, { delayMs: FAR }));
    await bench.jobs.change([
      { id: 'off', runAt: bench.now + FAR },
      { id: 'soon', runAt: bench.now },
    ]);
    expect(await bench.claimIds()).toEqual(['a']);
    expect((await bench.jobs.find(['off', 'soon'])).map((job) => job?.foldedInto)).toEqual([null, 'a']);
  });

  test('Jobs that wait for a coalesced job are released when it is done with its leader.', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce });
    await bench.add(of('a', 1), of('b', 1));
    await bench.add({ id: 'child', queue: 'elsewhere', dependsOn: ['b'] });
    const leader = await bench.claimOne();
    await bench.settle(leader, { kind: 'forward', address: 'http://there/q/x' });
    expect(await bench.states('b')).toEqual(['done']);
    expect((await bench.job('b')).forwardedTo).toBe('http://there/q/x');
    expect(await bench.claimIds({ queues: ['elsewhere'] })).toEqual(['child']);
  });

  test('When the leader advances to another queue, the jobs coalesced into it are done.', async () => {
    const bench = await open();
    const leader = await started(bench);
    await bench.settle(leader, { kind: 'complete', next: { queue: 'elsewhere', delayMs: 0 } });
    expect(await bench.states('a', 'b', 'c')).toEqual(['waiting', 'done', 'done']);
    expect((await bench.job('a')).folded).toBe(0);
  });

  test('A unique key until the start is released when a job is coalesced, and taken again when it returns.', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce });
    const unique = { key: 'k', scope: 'queue', until: 'started', periodMs: 0 } as const;
    await bench.add(of('a', 1), of('b', 1, { unique }));
    const leader = await bench.claimOne();
    await bench.add(of('c', 1, { unique }));
    expect(await bench.states('c')).toEqual(['waiting']);
    await bench.jobs.delete(['c']);
    await bench.settle(leader, release);
    expect(await bench.add(of('d', 1, { unique }))).toMatchObject([{ outcome: 'duplicate', id: 'b' }]);
  });

  test('Equal jobs that wait for a slot are coalesced too, and the jobs behind them get their turn.', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce, throttles: ['db'] });
    await setMax(bench, 'db', 1);
    await bench.add(of('a', 1), of('b', 2), of('c', 2), of('d', 3));
    const first = await bench.claim();
    expect(first.map(({ id }) => id)).toEqual(['a']);
    await bench.settle(first[0] as never, complete);
    const [second] = await bench.claim();
    expect([second?.id, second?.folded]).toEqual(['b', 1]);
    await bench.settle(second as never, complete);
    expect(await bench.states('b', 'c')).toEqual(['done', 'done']);
    expect(await bench.claimIds()).toEqual(['d']);
  });

  test('A claim of several jobs takes equal jobs once, and a repeat returns the same.', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce });
    await bench.add(of('a', 1), of('b', 1), of('c', 2), of('d', 2), of('e', 1, { priority: -1 }));
    const request = { requestId: 'once' };
    expect(await bench.claimIds(request)).toEqual(['e', 'c']);
    expect(await bench.claimIds(request)).toEqual(['e', 'c']);
    expect((await bench.jobs.find(['a', 'b', 'd'])).map((job) => job?.foldedInto)).toEqual(['e', 'e', 'c']);
  });

  test('A long result is shared by all of them, and a queue that no longer coalesces still ends coalesced jobs.', async () => {
    const bench = await open();
    const leader = await started(bench);
    await bench.setQueue('q', {});
    const result = JSON.stringify('long'.repeat(2_000));
    await bench.settle(leader, { kind: 'complete', result });
    expect((await bench.jobs.find(['a', 'b', 'c'])).map((job) => job?.result === result)).toEqual([true, true, true]);
    await bench.add(of('x', 1), of('y', 1));
    expect(await bench.claimIds()).toEqual(['other', 'x', 'y']);
  });
}
