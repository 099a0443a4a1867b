import { expect, it } from 'vitest';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import type { EventListener, StoreEvent } from '../ports/job-store.ts';
import { GAP_EVENT } from '../ports/job-store.ts';
import type { Store } from '../ports/store.ts';
import { followTracked, track } from './tracked-jobs.ts';

it('A tracked job is followed although its records could not be read after a gap.', async () => {
  const store = openMemoryStore();
  await store.jobs.add([{ id: 'a', queue: 'q', data: '{}' }]);
  let emit: EventListener = () => undefined;
  let isReadable = true;
  const cutOff: Pick<Store, 'jobs' | 'records'> = {
    jobs: Object.assign(Object.create(store.jobs) as Store['jobs'], {
      subscribe: (listener: EventListener) => {
        emit = listener;
        return () => undefined;
      },
    }),
    records: Object.assign(Object.create(store.records) as Store['records'], {
      list: (...args: Parameters<Store['records']['list']>) =>
        isReadable ? store.records.list(...args) : Promise.reject(new Error('away')),
    }),
  };
  const received: StoreEvent[] = [];
  await followTracked(cutOff, (events) => received.push(...events));
  await track(store, 'a');
  isReadable = false;
  const cancelled: StoreEvent = { type: 'cancelled', id: 'a', queue: 'q', state: 'cancelled' };
  emit([GAP_EVENT]);
  emit([cancelled]);
  await expect.poll(() => received).toEqual([GAP_EVENT]);
  isReadable = true;
  emit([{ ...cancelled, id: 'other' }]);
  await expect.poll(() => received).toEqual([GAP_EVENT, cancelled]);
});
