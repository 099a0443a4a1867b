/**
 * An add wakes the workers of its own client before it is answered, and the claim that they send finds the job. On SQLite
 * both are one transaction, on Redis one round trip.
 */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ClaimResult, NewJob } from '../../src/core/ports/job-store.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import type { OpenStore } from './contract.ts';
import { freshRedis } from './open-redis.ts';
import { openFreshSqlite, removeFoldersAtTheEnd } from './open-sqlite.ts';

removeFoldersAtTheEnd();
describe('SQLite', () => {
  ownAdds(openFreshSqlite);

  it('does not report an add to workers if its job was claimed in the same transaction', async () => {
    const store = await openFreshSqlite({ clock: 'store' });
    onTestFinished(() => store.close());
    // The first group of calls may take so long on a busy machine that it is divided into two transactions.
    await store.jobs.add([{ id: 'first', queue: 'other', data: '1' }]);
    const added: string[] = [];
    store.jobs.subscribe((events) => {
      for (const { type, id } of events) if (type === 'added') added.push(id);
    }, 'work');
    const jobs = ['a', 'b'].map((id) => ({ id, queue: 'q', data: '1' }));
    const claim = { worker: 'w', queues: ['q'], limit: 1, requestId: 'r' };
    const [, claimed] = await Promise.all([store.jobs.add(jobs), store.jobs.claim(claim)]);
    expect(claimed.jobs.map(({ id }) => id)).toEqual(['a']);
    // Events follow the answers.
    await vi.waitFor(() => expect(added).toEqual(['b']));
  });
});
describeWithRedis('Redis', () => ownAdds(freshRedis()));

const claimOf = (store: Store, requestId: string): Promise<ClaimResult> =>
  store.jobs.claim({ worker: 'w', queues: ['q'], limit: 9, requestId });

function ownAdds(open: OpenStore): void {
  const fresh = async (): Promise<Store> => {
    const store = await open({ clock: 'store' });
    onTestFinished(() => store.close());
    return store;
  };

  /** Adds jobs while a worker listens; returns what it claimed on each event before the add was answered. */
  const claimsDuring = async (store: Store, jobs: readonly NewJob[]) => {
    const claims: Promise<ClaimResult>[] = [];
    let isAnswered = false;
    const unsubscribe = store.jobs.subscribe((events) => {
      for (const { type, queue } of events)
        if (type === 'adding' && queue === 'q' && !isAnswered)
          claims.push(claimOf(store, `${jobs[0]?.id} ${claims.length}`));
    }, 'work');
    await store.jobs.count();
    const added = await store.jobs.add(jobs);
    isAnswered = true;
    unsubscribe();
    expect(added.every(({ ok }) => ok)).toBe(true);
    return (await Promise.all(claims)).map((claim) => claim.jobs.map(({ id }) => id));
  };

  it('lets a worker of the same client claim a job before its add is answered', async () => {
    const store = await fresh();
    expect(await claimsDuring(store, [{ id: 'a', queue: 'q', data: '1' }])).toEqual([['a']]);
    expect(await claimsDuring(store, [{ id: 'b', queue: 'q', data: '1' }])).toEqual([['b']]);
  });

  it('wakes once for a call, and not for jobs that cannot start yet or are in other queues', async () => {
    const store = await fresh();
    const job = (id: string, rest: Partial<NewJob> = {}): NewJob => ({ id, queue: 'q', data: '1', ...rest });
    expect(await claimsDuring(store, [job('a'), job('b'), job('c', { queue: 'other' })])).toEqual([['a', 'b']]);
    const later = [job('d', { delayMs: 9e5 }), job('e', { runAt: 9e15 }), job('f', { draft: true })];
    expect(await claimsDuring(store, [...later, job('g', { dependsOn: ['f'] })])).toEqual([]);
    expect(await claimsDuring(store, [job('h', { queue: 'other' })])).toEqual([]);
  });
}
