import { expect, it, onTestFinished } from 'vitest';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { startMaintenance, stepAfter } from './maintenance.ts';

it('takes small steps, and larger ones the longer it is behind', () => {
  const steps = [0, 9_999, 10_000, 20_000, 30_000, 40_000, 1_000_000].map((behindMs) => stepAfter(behindMs, 10_000));
  expect(steps).toEqual([20, 20, 40, 80, 160, 320, 320]);
});

it('continues, step by step, until there is no more to do', async () => {
  const store = openMemoryStore();
  onTestFinished(() => store.close());
  const keep = { ms: null, count: 3, bytes: null };
  const value = JSON.stringify({ retention: { cancelled: keep } });
  await store.records.put({ kind: QUEUE_RECORD, key: 'q', value });
  const ids = Array.from({ length: 100 }, (_, place) => `job-${place}`);
  await store.jobs.add(ids.map((id) => ({ id, queue: 'q', data: '1' })));
  await store.jobs.cancel(ids.map((id) => ({ id })));
  const troubles: unknown[] = [];
  const maintenance = startMaintenance(store, (error) => troubles.push(error), 10);
  onTestFinished(() => maintenance.stop());
  const left = async () => (await store.jobs.count(['q']))[0]?.cancelled;
  await expect.poll(left, { timeout: 20_000 }).toBe(3);
  expect(troubles).toEqual([]);
});
