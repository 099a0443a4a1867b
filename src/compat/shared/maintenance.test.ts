import { expect, test } from 'vitest';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import { connect } from '../../library/connect.ts';
import { maintainWhileOpen } from './maintenance.ts';

test('Leases that expire return to their queue without a worker, a node or a claim.', async () => {
  await using longhaul = await connect('memory:');
  const { store } = longhaul;
  await store.records.put({ kind: QUEUE_RECORD, key: 'q', value: '{"leaseMs":100}' });
  await store.jobs.add([{ id: 'a', queue: 'q', data: '1' }]);
  await store.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, leaseMs: 1, requestId: '1' });
  const errors: unknown[] = [];
  const maintenance = maintainWhileOpen(store, { onError: (error) => errors.push(error), everyMs: 10 });
  await expect.poll(async () => (await store.jobs.find(['a']))[0]?.state, { timeout: 20_000 }).toBe('waiting');
  maintenance.stop();
  expect(errors).toEqual([]);
});
