/** The lifetime of a store: how it closes, and how another thread opens it again. */
import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { handlesLeftBy } from '../support/open-handles.ts';
import type { Open } from './contract.ts';

export function lifetimeContract(open: Open): void {
  it('closes once, however often it is called', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    await Promise.all([bench.store.close(), bench.store.close()]);
    await bench.store.close();
  });

  it('answers the calls in progress before it closes', async () => {
    const bench = await open();
    const calls = Array.from({ length: 20 }, (_, index) => bench.add({ id: String(index) }));
    const closed = bench.store.close();
    const results = (await Promise.all(calls)).flat();
    expect(results.filter((result) => result.ok && result.outcome === 'added')).toHaveLength(20);
    await closed;
  });

  it('accepts no calls after it is closed', async () => {
    const bench = await open();
    await bench.store.close();
    const isClosed = { code: 'store-closed' };
    await expect(bench.add({ id: 'a' })).rejects.toMatchObject(isClosed);
    await expect(bench.jobs.find(['a'])).rejects.toMatchObject(isClosed);
    await expect(bench.records.get('queue', 'q')).rejects.toMatchObject(isClosed);
    await expect(bench.setQueue('q', {})).rejects.toMatchObject(isClosed);
  });

  it('leaves no timer, socket or thread open when it closes', async () => {
    const left = await handlesLeftBy(async () => {
      const bench = await open();
      const unsubscribe = bench.jobs.subscribe(() => undefined);
      await bench.add({ id: 'a' });
      await bench.store.close();
      unsubscribe();
    });
    expect(left).toEqual([]);
  });

  it('can be opened again by its own description, if it has one', async () => {
    const bench = await open();
    const description = bench.store.describe();
    // A store with a thread of its own (SQLite) has the lease renewer run in it instead.
    if (description === null || 'run' in description) return;
    const { openStore } = (await import(description.module)) as { openStore(options: unknown): Promise<Store> };
    const second = await openStore(description.options);
    try {
      await bench.add({ id: 'a' });
      const [found] = await second.jobs.find(['a'], { now: bench.now });
      expect(found).toEqual(await bench.job('a'));
    } finally {
      await second.close();
    }
    expect(await bench.states('a')).toEqual(['waiting']);
  });
}
