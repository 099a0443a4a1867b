/**
 * Applies a queue's file to its settings record. Values in the file win. A value that the file no longer contains is
 * reset. A value set elsewhere that the file never contained stays.
 */

import type { Store } from '../../core/ports/store.ts';
import { liveSettings } from '../../core/settings/delete-queue.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import type { QueueDefinition } from './queue-folder.ts';

/** The settings that came from the file. */
export const FILE_RECORD = 'queue-file';

/** Returns false when the record was changed concurrently. The next scan of the directory retries soon. */
export async function applyDefinition(store: Store, { name, settings }: QueueDefinition): Promise<boolean> {
  const [record, fromFile] = await Promise.all([
    store.records.get(QUEUE_RECORD, name),
    store.records.get(FILE_RECORD, name),
  ]);
  const text = JSON.stringify(settings);
  const set = liveSettings(record);
  if (fromFile?.value === text && set !== undefined) return true;
  const before: Readonly<Record<string, unknown>> = { ...set };
  const named = new Set(fromFile === null ? [] : Object.keys(JSON.parse(fromFile.value) as object));
  const kept = Object.fromEntries(Object.entries(before).filter(([key]) => !named.has(key)));
  const value = JSON.stringify({ ...kept, ...settings });
  // Before the queue's record, so that no other node takes the queue for one without a file; without values until they apply.
  if (fromFile === null) await store.records.put({ kind: FILE_RECORD, key: name, value: '{}' });
  const put = await store.records.put({ kind: QUEUE_RECORD, key: name, value, ifVersion: record?.version ?? 0 });
  if (put.ok) await store.records.put({ kind: FILE_RECORD, key: name, value: text });
  return put.ok;
}
