/** Which workers send claims that wait in the store. */
import { expect, it, vi } from 'vitest';
import { startWorker } from '../../../test/support/trial-worker.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { CapacityPool } from './capacity-pool.ts';

/** Returns for each of the first two claims of an idle worker whether it waits. */
async function waitsOf(options: Parameters<typeof startWorker>[0]): Promise<readonly boolean[]> {
  const store = openMemoryStore();
  const waits: boolean[] = [];
  const claim: JobStore['claim'] = (request, call) => {
    waits.push(call?.wait !== undefined);
    return store.jobs.claim(request, call);
  };
  const { worker } = await startWorker({ store: { ...store, jobs: { ...store.jobs, claim } }, ...options });
  await vi.waitFor(() => expect(waits).not.toEqual([]));
  worker.wake();
  await vi.waitFor(() => expect(waits.length).toBeGreaterThan(1));
  return waits.slice(0, 2);
}

it('an idle worker waits in the store', async () => {
  expect(await waitsOf({})).toEqual([false, true]);
  expect(await waitsOf({ leaseMs: 4_000, settings: { leaseMs: 1_000 } })).toEqual([false, true]);
});

it('a worker with short leases does not: they count from when the claim was sent', async () => {
  expect(await waitsOf({ leaseMs: 3_999 })).toEqual([false, false]);
  expect(await waitsOf({ settings: { leaseMs: 3_999 } })).toEqual([false, false]);
});

it('a worker of a pool does not: its claim borrows the capacity of the others', async () => {
  expect(await waitsOf({ pool: new CapacityPool({ ram: 1 }) })).toEqual([false, false]);
});
