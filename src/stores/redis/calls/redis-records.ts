/** The Records port over the scripts. Versions come from one counter of the namespace, so that none is given twice. */
import type { ClockSource } from '../../../core/lifecycle/clock.ts';
import type { CallOptions } from '../../../core/ports/job-store.ts';
import type { PutRecord, RecordQuery, Records, StoredRecord } from '../../../core/ports/records.ts';
import { FIELD } from '../encoding/layout.ts';
import { refusalIn } from './answers.ts';
import type { ScriptAnswer } from './script-runner.ts';
import type { ScriptName } from './scripts.ts';

export interface RedisRecordsOptions {
  readonly clock: ClockSource;
  run(name: ScriptName, args: readonly string[]): Promise<ScriptAnswer>;
}

const said = (value: number | undefined): string => (value === undefined ? '' : String(value));

export function createRedisRecords({ clock, run }: RedisRecordsOptions): Records {
  const ask = (name: ScriptName, args: readonly string[], options: CallOptions | undefined) => {
    const time = clock === 'store' || options?.now === undefined ? clock : `${clock} ${options.now}`;
    return run(name, [time, ...args]);
  };
  return {
    get: async (kind, key, options) => {
      const record = await ask('records-get', [kind, key], options);
      return typeof record === 'string' ? readRecord(kind, key, record) : null;
    },
    put: async ({ kind, key, value, ifVersion, expiresAt }: PutRecord, options) => {
      const word = await ask('records-put', [kind, key, value, said(ifVersion), said(expiresAt)], options);
      return refusalIn(String(word), `${kind} ${key}`) ?? { ok: true, version: Number(word) };
    },
    list: async ({ kind, prefix = '', after, limit }: RecordQuery, options) => {
      const from = after === undefined ? '' : `=${after}`;
      const answer = await ask('records-list', [kind, prefix, from, String(limit)], options);
      return readList(kind, Array.isArray(answer) ? (answer as readonly string[]) : []);
    },
    delete: async (kind, key, options) => {
      const word = await ask('records-delete', [kind, key, said(options?.ifVersion)], options);
      return refusalIn(String(word), `${kind} ${key}`) ?? { ok: true };
    },
  };
}

function readList(kind: string, answer: readonly string[]): StoredRecord[] {
  const records: StoredRecord[] = [];
  for (let at = 0; at < answer.length; at += 2) records.push(readRecord(kind, answer[at] ?? '', answer[at + 1] ?? ''));
  return records;
}

/** The value comes last and as it is: it may contain anything. */
export function readRecord(kind: string, key: string, record: string): StoredRecord {
  const [version = '', expiresAt = '', updatedAt = '', ...value] = record.split(FIELD);
  return {
    kind,
    key,
    version: Number(version),
    value: value.join(FIELD),
    expiresAt: expiresAt === '' ? null : Number(expiresAt),
    updatedAt: Number(updatedAt),
  };
}
