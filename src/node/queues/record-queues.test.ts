/** Two nodes of one machine on one store: the file of one must not look like a queue of a record to the other. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aFolder } from '../../../test/processes/blobs-workbench.ts';
import type { Records } from '../../core/ports/records.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { homeAt } from '../home.ts';
import { applyDefinition, FILE_RECORD } from './apply-definition.ts';
import type { QueueDefinition } from './queue-folder.ts';
import { recordQueues } from './record-queues.ts';

/** The records of a store, with one method replaced. */
const withMethod = (records: Records, method: Partial<Records>): Records => ({
  get: (...args) => records.get(...args),
  list: (...args) => records.list(...args),
  put: (...args) => records.put(...args),
  delete: (...args) => records.delete(...args),
  ...method,
});

async function twoNodes() {
  const store = openMemoryStore();
  onTestFinished(() => store.close());
  const folder = await aFolder();
  const script = join(folder, 'theirs');
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
  const parts = { secrets: {}, schedules: {}, notices: [], problem: null };
  const theirs: QueueDefinition = { name: 'theirs', origin: 'file', settings: { script }, script, ...parts };
  const read = (records: Records) => recordQueues(records, { home: homeAt(folder), host: 'h' });
  return { store, theirs, read };
}

it('finds no queue of a record while another node applies its file', async () => {
  const { store, theirs, read } = await twoNodes();
  const seen: (readonly QueueDefinition[])[] = [];
  const put: Records['put'] = async (record) => {
    const answer = await store.records.put(record);
    seen.push(await read(store.records));
    return answer;
  };
  const records = withMethod(store.records, { put });
  expect(await applyDefinition({ ...store, records }, theirs)).toBe(true);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.flat()).toEqual([]);
  expect((await store.records.get(QUEUE_RECORD, 'theirs'))?.value).toContain('script');
});

it.each([QUEUE_RECORD, FILE_RECORD])(
  'finds no queue of a record when a file is applied before %s is read',
  async (kind) => {
    const { store, theirs, read } = await twoNodes();
    let isRead = 0;
    const list: Records['list'] = async (query) => {
      if (query.kind === kind) isRead += Number(await applyDefinition(store, theirs));
      return store.records.list(query);
    };
    const records = withMethod(store.records, { list });
    expect([await read(records), isRead]).toEqual([[], 1]);
  },
);

it('applies the settings of a file whose node ended between its records', async () => {
  const { store, theirs } = await twoNodes();
  const put: Records['put'] = (record) =>
    record.kind === QUEUE_RECORD ? Promise.reject(new Error('ended')) : store.records.put(record);
  const records = withMethod(store.records, { put });
  await store.records.put({ kind: QUEUE_RECORD, key: 'theirs', value: '{"concurrency":3}' });
  await expect(applyDefinition({ ...store, records }, theirs)).rejects.toThrow('ended');
  expect(await applyDefinition(store, theirs)).toBe(true);
  const { value = '{}' } = (await store.records.get(QUEUE_RECORD, 'theirs')) ?? {};
  expect(JSON.parse(value)).toEqual({ concurrency: 3, script: theirs.script });
});
