import { expect, test } from 'vitest';
import type { ServerContext } from '../../server/views/context.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { listStates } from './rq-lists.ts';

test('A message that starts while the states of its queue are read is listed once.', async () => {
  const { jobs } = openMemoryStore();
  await jobs.add([{ id: 'a', queue: 'q', data: '{}' }]);
  const list: typeof jobs.list = async (query, options) => {
    const page = await jobs.list(query, options);
    if (query.state === 'waiting') await jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 'r' });
    return page;
  };
  const context = { store: { jobs: { ...jobs, list } } } as unknown as ServerContext;
  const found = await listStates(context, 'q');
  expect(found.map(({ id, state }) => [id, state])).toEqual([['a', 'running']]);
});
