/** Parents that fail, are cancelled or deleted: the effect on their children, by rule. */
import { expect, it } from 'vitest';
import { labelOf } from '../../src/core/job/label.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings/settings.ts';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, START, type Workbench } from './workbench.ts';

const DAY_MS = 86_400_000;

/** A running parent `a`, and a child for each rule, named after it. */
async function threeChildren(bench: Workbench) {
  const rules = ['hold', 'fail', 'run'] as const;
  const [, a] = [await bench.add({ id: 'a' }), await bench.claimOne()];
  await bench.add(...rules.map((rule) => ({ id: rule, dependsOn: ['a'], policy: { onDependencyFailed: rule } })));
  return a;
}

export function dependencyFailureContract(open: Open): void {
  it("holds, fails or runs a job whose parent failed, by the job's own rule", async () => {
    const bench = await open();
    const a = await threeChildren(bench);
    await bench.add({ id: 'grandchild', dependsOn: ['fail'], policy: { onDependencyFailed: 'fail' } });
    bench.pass(5);
    await bench.settle(a, fail());
    expect(await bench.states('hold', 'fail', 'run', 'grandchild')).toEqual(['waiting', 'failed', 'waiting', 'failed']);
    expect(await bench.job('fail')).toMatchObject({
      failure: { group: 'dependency', message: 'job a failed', detail: null },
      endedAt: START + 5,
      attempt: 0,
    });
    expect((await bench.jobs.history('grandchild')).at(-1)).toMatchObject({ event: 'failed', note: 'job fail failed' });
    expect(await bench.claimIds()).toEqual(['run']);
    const held = await bench.job('hold');
    expect(held.parents).toEqual({ of: 1, open: 1, bad: 1 });
    expect(labelOf(held, DEFAULT_SETTINGS, bench.now)).toEqual({
      label: 'blocked',
      reason: 'waits for 1 of 1 job; held, since 1 of them failed or was cancelled',
    });
    expect(await bench.job('a')).toMatchObject({ dependents: 2 });
  });

  it('uses the rule of its queue if it has none of its own, and holds by default', async () => {
    const bench = await open();
    await bench.setQueue('strict', { onDependencyFailed: 'fail' });
    const a = await bench.running({ id: 'a' });
    await bench.add({ id: 'b', dependsOn: ['a'] }, { id: 'c', queue: 'strict', dependsOn: ['a'] });
    await bench.settle(a, fail());
    expect(await bench.states('b', 'c')).toEqual(['waiting', 'failed']);
  });

  it('releases a held job when the parent is requeued and completes', async () => {
    const bench = await open();
    const a = await threeChildren(bench);
    await bench.settle(a, fail());
    await bench.jobs.requeue([{ id: 'a' }]);
    expect(await bench.job('hold')).toMatchObject({ parents: { of: 1, open: 1, bad: 0 } });
    const again = (await bench.claim()).find(({ id }) => id === 'a');
    if (again === undefined) throw new Error('a should run again');
    await bench.settle(again, complete);
    expect(await bench.claimIds()).toEqual(['hold']);
    expect(await bench.job('fail')).toMatchObject({ state: 'failed', parents: { of: 1, open: 0, bad: 0 } });
  });

  it('waits again when it is requeued itself, for a failed parent until that is done', async () => {
    const bench = await open();
    const a = await threeChildren(bench);
    await bench.settle(a, fail());
    expect(await bench.jobs.requeue([{ id: 'fail' }])).toEqual([{ ok: true, state: 'waiting' }]);
    expect(await bench.job('fail')).toMatchObject({ state: 'waiting', parents: { of: 1, open: 1, bad: 1 } });
    await bench.jobs.change([{ id: 'fail', dependsOn: { remove: ['a'] } }]);
    expect(await bench.claimIds()).toEqual(['fail', 'run']);
  });

  it('treats a parent that is lost for good or cancelled like one that failed', async () => {
    const bench = await open();
    await bench.setQueue('q', { maxCrashes: 1 });
    await bench.running({ id: 'a' });
    await bench.add({ id: 'b' });
    const policy = { onDependencyFailed: 'fail' } as const;
    await bench.add({ id: 'c', dependsOn: ['a'], policy }, { id: 'd', dependsOn: ['b'], policy });
    await bench.loseLeases(LEASE_MS);
    await bench.jobs.cancel([{ id: 'b', dependents: 'leave' }]);
    expect((await bench.jobs.find(['c', 'd'])).map((job) => job?.failure?.message)).toEqual([
      'job a failed',
      'job b was cancelled',
    ]);
  });

  it('refuses to cancel a job that others wait for, with their number, until the call decides about them', async () => {
    const bench = await open();
    const policy = { onDependencyFailed: 'fail' } as const;
    await bench.add({ id: 'a' }, { id: 'b', dependsOn: ['a'] });
    await bench.add({ id: 'c', dependsOn: ['a'], policy }, { id: 'd', dependsOn: ['c'], policy });
    await bench.jobs.cancel([{ id: 'b' }]);
    const [refused] = await bench.jobs.cancel([{ id: 'a' }]);
    expect(refused).toEqual({
      ok: false,
      refusal: {
        code: 'has-dependents',
        message: '1 job waits for job a: choose whether to cancel or to leave them',
        dependents: 1,
      },
    });
    expect(await bench.states('a', 'c', 'd')).toEqual(['waiting', 'waiting', 'waiting']);
    expect(await bench.jobs.cancel([{ id: 'a', dependents: 'cancel' }])).toEqual([{ ok: true, outcome: 'cancelled' }]);
    expect(await bench.states('a', 'c', 'd')).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(await bench.events('d')).toEqual(['added', 'cancelled']);
  });

  it('cancels the dependents of a running job at once, or leaves them until it ends', async () => {
    const bench = await open();
    const [a, b] = [await bench.running({ id: 'a' }), await bench.running({ id: 'b' })];
    await bench.add(
      { id: 'c', dependsOn: ['a'] },
      { id: 'd', dependsOn: ['b'], policy: { onDependencyFailed: 'run' } },
    );
    const asked = await bench.jobs.cancel([
      { id: 'a', dependents: 'cancel' },
      { id: 'b', dependents: 'leave' },
    ]);
    expect(asked).toEqual([1, 2].map(() => ({ ok: true, outcome: 'asked' })));
    expect(await bench.states('a', 'b', 'c', 'd')).toEqual(['running', 'running', 'cancelled', 'waiting']);
    await bench.settle(a, complete);
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(b, complete);
    expect(await bench.states('a', 'b')).toEqual(['cancelled', 'cancelled']);
    expect(await bench.claimIds()).toEqual(['d']);
  });

  it('fails jobs that wait for a deleted job, unless their rule is run', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b', dependsOn: ['a'] });
    await bench.add(
      { id: 'c', dependsOn: ['a'], policy: { onDependencyFailed: 'run' } },
      { id: 'd', dependsOn: ['a'], draft: true },
    );
    await bench.jobs.delete(['a']);
    expect(await bench.job('b')).toMatchObject({ state: 'failed', failure: { message: 'job a was deleted' } });
    expect(await bench.states('c', 'd')).toEqual(['waiting', 'failed']);
    expect(await bench.claimIds()).toEqual(['c']);
  });

  it('never leaves a job waiting for one that retention deleted', async () => {
    const bench = await open();
    await bench.setQueue('q', {
      retention: { ...DEFAULT_SETTINGS.retention, failed: { ms: DAY_MS, count: null, bytes: null } },
    });
    const a = await bench.running({ id: 'a' });
    await bench.add({ id: 'held', dependsOn: ['a'] }, { id: 'draft', queue: 'drafts', draft: true });
    await bench.add({ id: 'below', queue: 'drafts', dependsOn: ['draft'], draft: true });
    await bench.settle(a, fail());
    bench.pass(8 * DAY_MS);
    const done = await bench.jobs.maintain({ limit: 100 });
    expect(done).toMatchObject({ pruned: 1, expiredDrafts: 1 });
    expect(await bench.states('a', 'held', 'draft', 'below')).toEqual([null, 'failed', null, 'failed']);
    expect(await bench.job('held')).toMatchObject({ failure: { group: 'dependency', message: 'job a was deleted' } });
  });

  it('applies the rule at once when a dependency on a failed job is added', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a' }), fail());
    const rules = ['hold', 'fail', 'run'] as const;
    const added = await bench.add(
      ...rules.map((rule) => ({ id: rule, dependsOn: ['a'], policy: { onDependencyFailed: rule } })),
    );
    expect(added).toMatchObject([{ state: 'waiting' }, { outcome: 'added', state: 'failed' }, { state: 'waiting' }]);
    expect(await bench.events('fail')).toEqual(['added', 'failed']);
    expect(await bench.claimIds()).toEqual(['run']);
  });

  it('follows a chain of failures of any length', async () => {
    const bench = await open();
    const a = await bench.running({ id: 'j0' });
    const policy = { onDependencyFailed: 'fail' } as const;
    const chain = Array.from({ length: 500 }, (_, at) => ({ id: `j${at + 1}`, dependsOn: [`j${at}`], policy }));
    await bench.add(...chain);
    await bench.settle(a, fail());
    const [counts] = await bench.jobs.count(['q']);
    expect(counts).toMatchObject({ failed: 501, waiting: 0, blocked: 0 });
  });
}
