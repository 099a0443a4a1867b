/** The identity of a store: a random id in its records, the same for every caller and under every address. */
import { randomUUID } from 'node:crypto';
import type { Records } from '../../core/ports/records.ts';
import { STORE_RECORD } from '../../core/ports/records.ts';

export async function storeIdentity(records: Records): Promise<string> {
  return (await known(records)) ?? (await create(records));
}

async function known(records: Records): Promise<string | null> {
  const record = await records.get(STORE_RECORD, 'id');
  return record === null ? null : (JSON.parse(record.value) as string);
}

/** Of several processes that do this at once, one creates the identity and all return it. */
async function create(records: Records): Promise<string> {
  await records.put({ kind: STORE_RECORD, key: 'id', value: JSON.stringify(randomUUID()), ifVersion: 0 });
  const identity = await known(records);
  if (identity === null) throw new Error('the record of the store identity is missing after it was written');
  return identity;
}
