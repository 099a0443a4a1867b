/** Performs calls of the Records port by name, in the open transaction. */
import type { PutRecord, RecordQuery } from '../../../core/ports/records.ts';
import type { RecordCallName } from '../engine/messages.ts';
import type { SqliteRecords } from './sqlite-records.ts';

export interface RecordKey {
  readonly kind: string;
  readonly key: string;
  readonly ifVersion?: number;
}

export function performOnRecords(
  records: SqliteRecords,
  name: RecordCallName,
  argument: unknown,
  now: number,
): unknown {
  switch (name) {
    case 'records.get': {
      const { kind, key } = argument as RecordKey;
      return records.get(kind, key, now);
    }
    case 'records.put':
      return records.put(argument as PutRecord, now);
    case 'records.list':
      return records.list(argument as RecordQuery, now);
    case 'records.delete': {
      const { kind, key, ...condition } = argument as RecordKey;
      return records.delete(kind, key, { ...condition, now });
    }
  }
}
