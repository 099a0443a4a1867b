/**
 * Brings a queue's file into its settings record. What the file names wins; what it no longer names goes back to
 * what it was without the file; what others set and the file never named stays.
 */

import type { Store } from '../../core/ports/store.ts';
import { liveSettings } from '../../core/settings/delete-queue.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import type { QueueDefinition } from './queue-folder.ts';

/** Remembers which settings came from the file. */
export const FILE_RECORD = 'queue-file';

/** False when somebody changed the record in between: the next look at the folder, which comes soon, tries again. */
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
  const put = await store.records.put({ kind: QUEUE_RECORD, key: name, value, ifVersion: record?.version ?? 0 });
  if (put.ok) await store.records.put({ kind: FILE_RECORD, key: name, value: text });
  return put.ok;
}
