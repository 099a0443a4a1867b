/** Which store this is: a random id that its records hold, the same for whoever asks, whatever the store is called. */
import { randomUUID } from 'node:crypto';
import type { Records } from '../core/records.ts';

const STORE_RECORD = 'store-identity';

export async function storeIdentity(records: Records): Promise<string> {
  await records.put({ kind: STORE_RECORD, key: 'id', value: JSON.stringify(randomUUID()), ifVersion: 0 });
  const record = await records.get(STORE_RECORD, 'id');
  if (record === null) throw new Error('a record that was put is there');
  return JSON.parse(record.value) as string;
}
