/** The limits of a queue: how many of its jobs run, how often they start, and how its keys take turns. */
import { expect, test } from 'vitest';
import type { Open } from './contract.ts';
import { complete } from './workbench.ts';

const of = (tenant: unknown) => JSON.stringify({ tenant });

export function limitContract(open: Open): void {
  test('At most maxRunning jobs of a queue run, over all workers, and each one that ends makes room.', async () => {
    const bench = await open();
    await bench.setQueue('q', { maxRunning: 2 });
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd', queue: 'other' });
    expect(await bench.claimIds({ worker: 'v', limit: 1 })).toEqual(['a']);
    expect(await bench.claimIds({ worker: 'w', queues: ['q', 'other'] })).toEqual(['b', 'd']);
    expect(await bench.claimIds({ worker: 'v' })).toEqual([]);
    const log = await bench.listen();
    await bench.settle((await bench.job('a')) as never, complete);
    await log.until((events) => events.some(({ type, queue }) => type === 'freed' && queue === 'q'));
    expect(await bench.claimIds({ worker: 'v' })).toEqual(['c']);
  });

  test('A job that waits for room in its queue is throttled; a removed limit releases all of them.', async () => {
    const bench = await open();
    await bench.setQueue('q', { maxRunning: 1 });
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' });
    await bench.claim();
    const { jobs } = await bench.jobs.list({ label: 'throttled', order: 'newest', limit: 10 });
    expect(jobs.map(({ id }) => id)).toEqual(['c', 'b']);
    await bench.setQueue('q', { maxRunning: null });
    expect(await bench.claimIds()).toEqual(['b', 'c']);
  });

  test('The rate limits how many jobs start in a period, and the claim returns when the next one may.', async () => {
    const bench = await open();
    await bench.setQueue('q', { rate: { count: 2, ms: 1_000 } });
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' });
    const first = await bench.requestClaim({ leaseMs: 10_000_000 });
    expect([first.jobs.length, first.nextAt]).toEqual([2, bench.now + 500]);
    bench.pass(499);
    expect(await bench.claimIds()).toEqual([]);
    const { jobs } = await bench.jobs.list({ label: 'throttled', order: 'newest', limit: 10 });
    expect(jobs.map(({ id }) => id)).toEqual(['d', 'c']);
    bench.pass(1);
    expect(await bench.claimIds()).toEqual(['c']);
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual(['d']);
  });

  test("A rate does not accumulate: after a long rest no more than one period's count may start.", async () => {
    const bench = await open();
    await bench.setQueue('q', { rate: { count: 3, ms: 1_000 } });
    bench.pass(1_000_000);
    await bench.add(...['a', 'b', 'c', 'd', 'e'].map((id) => ({ id })));
    expect(await bench.claimIds()).toEqual(['a', 'b', 'c']);
  });

  test('A changed rate takes effect at once, whatever was used of the old one.', async () => {
    const bench = await open();
    await bench.setQueue('q', { rate: { count: 2, ms: 3_600_000 } });
    await bench.add(...['a', 'b', 'c', 'd', 'e'].map((id) => ({ id })));
    expect(await bench.claimIds()).toEqual(['a', 'b']);
    bench.pass(10);
    await bench.setQueue('q', { rate: { count: 10, ms: 1_000 } });
    expect((await bench.requestClaim({ leaseMs: 10_000_000 })).nextAt).toBe(bench.now + 100);
    bench.pass(100);
    expect(await bench.claimIds({ limit: 3 })).toEqual(['c']);
    bench.pass(200);
    expect(await bench.claimIds({ limit: 3 })).toEqual(['d', 'e']);
  });

  test('A changed global rate takes effect at once.', async () => {
    const bench = await open();
    await bench.setQueue('*', { rate: { count: 1, ms: 3_600_000 } });
    await bench.add({ id: 'a' }, { id: 'b' });
    expect(await bench.claimIds()).toEqual(['a']);
    await bench.setQueue('*', { rate: { count: 1, ms: 1_000 } });
    bench.pass(999);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds()).toEqual(['b']);
  });

  test('A change of the rate allows no start that the new rate would not.', async () => {
    const bench = await open();
    await bench.setQueue('q', { rate: { count: 2, ms: 1_000 } });
    await bench.add(...['a', 'b', 'c', 'd'].map((id) => ({ id })));
    expect(await bench.claimIds()).toEqual(['a', 'b']);
    await bench.setQueue('q', { rate: { count: 4, ms: 1_000 } });
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(250);
    expect(await bench.claimIds()).toEqual(['c']);
  });

  test('One key runs as many jobs as its limit, and does not block others.', async () => {
    const bench = await open();
    await bench.setQueue('q', { keys: { by: ['tenant'], limit: 1 } });
    await bench.add(
      { id: 'a1', data: of('a') },
      { id: 'a2', data: of('a') },
      { id: 'b1', data: of('b') },
      { id: 'none', data: '{}' },
      { id: 'none2', data: '[7]' },
    );
    const running = await bench.claim();
    expect(running.map(({ id }) => id)).toEqual(expect.arrayContaining(['a1', 'b1', 'none', 'none2']));
    expect(running.find(({ id }) => id === 'a1')?.slots).toEqual(['k:q:a']);
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle((await bench.job('a1')) as never, complete);
    expect(await bench.claimIds()).toEqual(['a2']);
  });

  test.each([
    ['texts', of('ä"|\\'), of('ä"|\\'), true],
    ['long data', of('x').replace('}', `,"more":"${'l'.repeat(2_000)}"}`), of('x'), true],
    ['whole numbers', of(7), '{"tenant": 7.0}', true],
    ['a number and a text', of(7), of('7'), true],
    ['true', of(true), of(true), true],
    ['fractions, which are not keys', of(0.5), of(0.5), false],
    ['null, which is not a key', of(null), of(null), false],
    ['objects, which are not keys', of({ a: 1 }), of({ a: 1 }), false],
    ['other texts', of('a'), of('b'), false],
  ])('Keys of the data: %s.', async (_what, one, other, isSame) => {
    const bench = await open();
    await bench.setQueue('q', { keys: { by: ['tenant'], limit: 1 } });
    await bench.add({ id: 'one', data: one }, { id: 'other', data: other });
    expect(await bench.claimIds()).toEqual(isSame ? ['one'] : ['one', 'other']);
  });

  test('A key may consist of several fields, also nested ones; it needs all of them.', async () => {
    const bench = await open();
    await bench.setQueue('q', { keys: { by: ['a', 'b.c'], limit: 1 } });
    const datas = [
      '{"a":"1|","b":{"c":"2"}}',
      '{"a":"1","b":{"c":"|2"}}',
      '{"a":"1|","b":{"c":"2"}}',
      '{"a":1}',
      '{"a":1}',
    ];
    await bench.add(...datas.map((data, n) => ({ id: `j${n}`, data })));
    expect([...(await bench.claimIds())].sort()).toEqual(['j0', 'j1', 'j3', 'j4']);
  });

  test('A given key takes precedence over the data.', async () => {
    const bench = await open();
    await bench.setQueue('q', { keys: { by: ['tenant'], limit: 1 } });
    await bench.add({ id: 'a', data: of('x') }, { id: 'b', data: of('y'), policy: { key: 'x' } });
    expect(await bench.claimIds()).toEqual(['a']);
  });

  test('Keys take turns: a key with many jobs waits for each other key once.', async () => {
    const bench = await open();
    await bench.setQueue('q', { keys: { by: ['tenant'], limit: null } });
    await bench.add(...[1, 2, 3, 4].map((n) => ({ id: `a${n}`, data: of('a') })));
    await bench.add({ id: 'b1', data: of('b') }, { id: 'b2', data: of('b') }, { id: 'c1', data: of('c') });
    expect(await bench.claimIds({ limit: 5 })).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
    await bench.add({ id: 'd1', data: of('d') }, { id: 'c2', data: of('c') });
    expect(await bench.claimIds()).toEqual(['a3', 'd1', 'c2', 'a4']);
  });

  test('A raised or removed limit of keys takes effect at once, also for jobs that wait for it.', async () => {
    const bench = await open();
    await bench.setQueue('q', { keys: { by: ['tenant'], limit: 1 } });
    await bench.add(...[1, 2, 3, 4].map((n) => ({ id: `a${n}`, data: of('a') })));
    expect([await bench.claimIds(), await bench.claimIds()]).toEqual([['a1'], []]);
    await bench.setQueue('q', { keys: { by: ['tenant'], limit: 2 } });
    expect([await bench.claimIds(), await bench.claimIds()]).toEqual([['a2'], []]);
    await bench.setQueue('q', {});
    expect(await bench.claimIds()).toEqual(['a3', 'a4']);
  });

  test('A job that moves to another queue is limited only there.', async () => {
    const bench = await open();
    await bench.setQueue('q', { keys: { by: ['tenant'], limit: 1 } });
    await bench.add({ id: 'a', data: of('x') }, { id: 'b', data: of('x') });
    const a = await bench.claimOne();
    await bench.settle(a, { kind: 'complete', next: { queue: 'next', delayMs: 0 } });
    expect(await bench.claimIds({ queues: ['next', 'q'] })).toEqual(['a', 'b']);
    expect((await bench.job('a')).slots).toEqual([]);
  });
}
