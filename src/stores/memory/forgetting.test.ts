/** Expired records and keys are deleted eventually. */

import { expect, test } from 'vitest';
import { NO_THROTTLE } from '../../core/limits/bucket.ts';
import { DEFAULT_SETTINGS } from '../../core/settings/settings.ts';
import { MemoryRecords } from './memory-records.ts';
import { MemoryTable } from './memory-table.ts';
import { openMemoryStore } from './open-memory-store.ts';

test('Expired records are deleted, but not other records or the settings of queues.', async () => {
  const records = new MemoryRecords(
    () => 0,
    () => undefined,
  );
  await records.put({ kind: 'audit', key: 'old', value: '{}', expiresAt: 10 });
  await records.put({ kind: 'audit', key: 'young', value: '{}', expiresAt: 11 });
  await records.put({ kind: 'audit', key: 'for good', value: '{}' });
  await records.put({ kind: 'queue', key: 'q', value: '{}', expiresAt: 10 });
  records.forgetExpired(10);
  const known = [...['old', 'young', 'for good'].map((key) => records.peek('audit', key)), records.peek('queue', 'q')];
  expect(known.map((record) => record?.key)).toEqual([undefined, 'young', 'for good', 'q']);
});

test('Unique keys whose period is over are deleted, others are not.', () => {
  const table = new MemoryTable({
    settings: () => DEFAULT_SETTINGS,
    throttle: () => NO_THROTTLE,
    closed: () => null,
    logs: () => ({ count: 0, bytes: 0 }),
    emit: () => undefined,
  });
  table.takeKey('over', 'a', 10);
  table.takeKey('running', 'b', 11);
  table.takeKey('held', 'c', null);
  table.forgetKeys(10);
  expect(['over', 'running', 'held'].map((address) => table.keyHolder(address, 0))).toEqual([undefined, 'b', 'c']);
});

test('Maintenance deletes both a day late, because the clock may go back.', async () => {
  const store = openMemoryStore({ clock: 'caller' });
  const unique = { key: 'k', scope: 'queue', until: 'period', periodMs: 5 } as const;
  await store.jobs.add([{ id: 'a', queue: 'q', data: '{}', unique }], { now: 1_000 });
  await store.records.put({ kind: 'audit', key: 'old', value: '{}', expiresAt: 1_005 }, { now: 1_000 });
  await store.jobs.maintain({ limit: 10 }, { now: 1_005 + 86_400_000 });
  // A read at an earlier time would still return both if they were kept.
  expect(await store.records.get('audit', 'old', { now: 1_001 })).toBeNull();
  const [again] = await store.jobs.add([{ id: 'b', queue: 'q', data: '{}', unique }], { now: 1_001 });
  expect(again).toMatchObject({ outcome: 'added', id: 'b' });
});
