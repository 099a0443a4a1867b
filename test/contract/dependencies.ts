/** Dependencies: a job is blocked until the last of its parents is done, then claimable like any other. */
import { expect, it } from 'vitest';
import { labelOf } from '../../src/core/job/label.ts';
import { MAX_PARENTS } from '../../src/core/lifecycle/dependencies.ts';
import type { JobStore } from '../../src/core/ports/job-store.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings/settings.ts';
import type { Open } from './contract.ts';
import { complete, fail, outcomeOf, START } from './workbench.ts';

const messageOf = (result: { ok: true } | { ok: false; refusal: { message: string } } | undefined): string =>
  result === undefined || result.ok ? 'ok' : result.refusal.message;

/** Returns every page of a query. */
async function idsOf(jobs: JobStore, query: { parent?: string; child?: string }): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await jobs.list({ ...query, order: 'newest', limit: 2, ...(after === undefined ? {} : { after }) });
    ids.push(...page.jobs.map(({ id }) => id));
    after = page.next;
  }
  return ids;
}

// Long because it is one list of promises, each a test.
export function dependencyContract(open: Open): void {
  it('blocks a job until the last of its parents is done, and reports how many are open', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c', dependsOn: ['a', 'b', 'a'] });
    const blocked = await bench.job('c');
    expect(blocked).toMatchObject({ state: 'waiting', parents: { of: 2, open: 2, bad: 0 } });
    expect(labelOf(blocked, DEFAULT_SETTINGS, START)).toEqual({ label: 'blocked', reason: 'waits for 2 of 2 jobs' });
    expect(await bench.job('a')).toMatchObject({ parents: null, dependents: 1 });
    const [a, b] = await bench.claim();
    expect([a?.id, b?.id]).toEqual(['a', 'b']);
    if (a === undefined || b === undefined) return;
    await bench.settle(a, complete);
    expect(await bench.job('c')).toMatchObject({ parents: { of: 2, open: 1, bad: 0 } });
    expect(await bench.events('c')).toEqual(['added']);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(7);
    await bench.settle(b, complete);
    expect(await bench.job('b')).toMatchObject({ state: 'done', dependents: 0 });
    expect(await bench.job('c')).toMatchObject({ state: 'waiting', parents: { of: 2, open: 0, bad: 0 } });
    expect((await bench.jobs.history('c')).at(-1)).toMatchObject({
      at: START + 7,
      event: 'unblocked',
      state: 'waiting',
    });
    expect(await bench.claimIds()).toEqual(['c']);
  });

  it('emits an event at the release, so that workers claim the job', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'c', queue: 'after', dependsOn: ['a'] });
    const log = await bench.listen();
    await bench.settle(await bench.claimOne(), complete);
    const events = await log.until((all) => all.some(({ type }) => type === 'unblocked'));
    expect(events.slice(-2)).toEqual([
      { type: 'completed', id: 'a', queue: 'q', state: 'done' },
      { type: 'unblocked', id: 'c', queue: 'after', state: 'waiting' },
    ]);
  });

  it('is released by one settlement of several parents, in claim order', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c', dependsOn: ['a', 'b'] });
    const parents = await bench.claim();
    await bench.add({ id: 'later' });
    const settlements = parents.map(({ id, lease }) => ({ id, token: lease.token, kind: 'complete' as const }));
    expect((await bench.jobs.settle(settlements)).map(outcomeOf)).toEqual(['ok', 'ok']);
    expect(await bench.claimIds()).toEqual(['c', 'later']);
  });

  it('does not wait for a job that is done or forwarded', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a' }), complete);
    await bench.settle(await bench.running({ id: 'b' }), { kind: 'forward', address: 'http://there' });
    await bench.add({ id: 'c', dependsOn: ['a', 'b'] });
    expect(await bench.job('c')).toMatchObject({ parents: { of: 2, open: 0, bad: 0 } });
    expect(await bench.claimIds()).toEqual(['c']);
  });

  it('keeps waiting while a parent advances to its next queue', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'c', dependsOn: ['a'] });
    await bench.settle(await bench.claimOne(), { kind: 'complete', next: { queue: 'second', delayMs: 0 } });
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(await bench.claimOne({ queues: ['second'] }), complete);
    expect(await bench.claimIds()).toEqual(['c']);
  });

  it('is not blocked again by a parent that is done again', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'c', dependsOn: ['a'] });
    await bench.settle(await bench.claimOne(), complete);
    await bench.jobs.requeue([{ id: 'a' }]);
    expect(await bench.job('a')).toMatchObject({ state: 'waiting', dependents: 0 });
    expect(await bench.claimIds()).toEqual(['a', 'c']);
  });

  it('still waits for its run time and for its commit', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    await bench.add({ id: 'timed', dependsOn: ['a'], delayMs: 1_000 }, { id: 'draft', dependsOn: ['b'], draft: true });
    const [a, b] = await bench.claim();
    if (a === undefined || b === undefined) throw new Error('both should run');
    await bench.settle(a, complete);
    expect(await bench.requestClaim()).toMatchObject({ jobs: [], nextAt: START + 1_000 });
    await bench.jobs.commit(['draft']);
    expect(await bench.jobs.list({ label: 'blocked', order: 'newest', limit: 5 })).toMatchObject({
      jobs: [{ id: 'draft' }],
    });
    await bench.settle(b, complete);
    expect(await bench.claimIds()).toEqual(['draft']);
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual(['timed']);
  });

  it('counts and lists blocked jobs as waiting, and lists parents and children', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c', dependsOn: ['a', 'b'] }, { id: 'd', dependsOn: ['a', 'c'] });
    const [counts] = await bench.jobs.count(['q']);
    expect(counts).toMatchObject({ waiting: 4, blocked: 2, scheduled: 0 });
    const { jobs } = await bench.jobs.list({ queue: 'q', state: 'waiting', order: 'newest', limit: 10 });
    expect(jobs.map(({ id }) => id)).toEqual(['d', 'c', 'b', 'a']);
    const peek = await bench.jobs.list({ queue: 'q', order: 'claim', limit: 10 });
    expect(peek.jobs.map(({ id }) => id)).toEqual(['a', 'b']);
    for (const job of await bench.claim()) await bench.settle(job, complete);
    expect(await bench.jobs.count(['q'])).toMatchObject([{ waiting: 2, blocked: 1, done: 2 }]);
    expect(await idsOf(bench.jobs, { parent: 'a' })).toEqual(['d', 'c']);
    expect(await idsOf(bench.jobs, { child: 'd' })).toEqual(['c', 'a']);
    expect(await idsOf(bench.jobs, { parent: 'a', child: 'd' })).toEqual(['c']);
    expect(await idsOf(bench.jobs, { parent: 'none' })).toEqual([]);
  });

  it('can add and remove dependencies while it waits or is a draft', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' });
    const change = async (dependsOn: object) =>
      outcomeOf((await bench.jobs.change([{ id: 'c', dependsOn }]))[0] as never);
    expect(await change({ add: ['a', 'b'] })).toBe('ok');
    expect(await change({ add: ['a'] })).toBe('ok');
    expect(await bench.job('c')).toMatchObject({ parents: { of: 2, open: 2, bad: 0 } });
    expect(await bench.claimIds()).toEqual(['a', 'b']);
    expect(await change({ remove: ['a', 'none', 'c'] })).toBe('ok');
    expect(await bench.job('a')).toMatchObject({ dependents: 0 });
    expect(await change({ add: ['a'], remove: ['b'] })).toBe('ok');
    expect(await bench.claimIds()).toEqual([]);
    expect(await change({ remove: ['a'] })).toBe('ok');
    expect(await bench.job('c')).toMatchObject({ parents: null });
    expect(await bench.claimIds()).toEqual(['c']);
    expect(await change({ add: ['a'] })).toBe('wrong-state');
  });

  it('advances to its next queue and waits there for other jobs', async () => {
    const bench = await open();
    await bench.add({ id: 'other', queue: 'others' });
    const job = await bench.running({ id: 'a' });
    const next = { queue: 'second', delayMs: 0, dependsOn: ['other'] };
    const refused = await bench.settle(job, { kind: 'complete', next: { ...next, dependsOn: ['none'] } });
    expect(messageOf(refused)).toBe('job a cannot wait for jobs that do not exist: none');
    expect(await bench.job('a')).toMatchObject({ state: 'running' });
    expect(await bench.settle(job, { kind: 'complete', next })).toEqual({ ok: true, state: 'waiting' });
    expect(await bench.claimIds({ queues: ['second'] })).toEqual([]);
    await bench.settle(await bench.claimOne({ queues: ['others'] }), complete);
    expect(await bench.claimIds({ queues: ['second'] })).toEqual(['a']);
  });

  it('refuses invalid dependencies with their ids, and changes nothing', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'gone' });
    await bench.jobs.delete(['gone']);
    const results = await bench.add(
      { id: 'b', dependsOn: ['a', 'none', 'gone', 'c'] },
      { id: 'c', dependsOn: ['c'] },
      { id: 'd', dependsOn: ['a'] },
    );
    expect(results.map(messageOf)).toEqual([
      'job b cannot wait for jobs that do not exist: none, gone, c',
      'job c cannot wait for itself',
      'ok',
    ]);
    expect(results[0]).toMatchObject({ ok: false, refusal: { code: 'bad-dependency' } });
    expect(await bench.states('b', 'c', 'd')).toEqual([null, null, 'waiting']);
    expect(await bench.job('a')).toMatchObject({ dependents: 1 });
  });

  it('refuses a cycle of any length, even one that a single call would close', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b', dependsOn: ['a'] }, { id: 'c', dependsOn: ['b'] }, { id: 'd' });
    const [short, long] = await bench.jobs.change([
      { id: 'a', dependsOn: { add: ['a'] } },
      { id: 'a', priority: 5, dependsOn: { add: ['d', 'c', 'b'] } },
    ]);
    expect(messageOf(short)).toBe('job a cannot wait for itself');
    expect(messageOf(long)).toBe('job a cannot wait for jobs that wait for it, because that is a cycle: b, c');
    expect(await bench.job('a')).toMatchObject({ priority: 0, parents: null });
    const both = await bench.jobs.change([
      { id: 'a', dependsOn: { add: ['d'] } },
      { id: 'd', dependsOn: { add: ['c'] } },
    ]);
    expect(both.map(outcomeOf)).toEqual(['ok', 'bad-dependency']);
  });

  it('refuses more dependencies than the limits', async () => {
    const bench = await open();
    const ids = Array.from({ length: MAX_PARENTS + 1 }, (_, index) => `p${index}`);
    const [result] = await bench.add({ id: 'c', dependsOn: ids });
    expect(messageOf(result)).toBe(`job c cannot wait for ${MAX_PARENTS + 1} jobs: ${MAX_PARENTS} are the most`);
  });

  it('releases its parents when it is deleted', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'c', dependsOn: ['a'] });
    await bench.jobs.delete(['c']);
    expect(await bench.job('a')).toMatchObject({ dependents: 0 });
    expect(await idsOf(bench.jobs, { parent: 'a' })).toEqual([]);
    const [cancelled] = await bench.jobs.cancel([{ id: 'a' }]);
    expect(cancelled).toEqual({ ok: true, outcome: 'cancelled' });
  });

  it('stays blocked when it is moved, and waits for a failed parent that is retried', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 1 });
    await bench.add({ id: 'a' }, { id: 'c', dependsOn: ['a'] });
    await bench.jobs.move([{ id: 'c', queue: 'second' }]);
    await bench.settle(await bench.claimOne(), fail());
    expect(await bench.claimIds({ queues: ['second'] })).toEqual([]);
    expect(await bench.job('c')).toMatchObject({ parents: { of: 1, open: 1, bad: 0 } });
    await bench.settle(await bench.claimOne(), complete);
    expect(await bench.claimIds({ queues: ['second'] })).toEqual(['c']);
  });
}
