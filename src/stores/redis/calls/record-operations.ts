/** The Records port over scripts. Versions come from one counter of the namespace, so that none is given twice. */
import type { PutRecord, RecordQuery, Records, StoredRecord } from '../../../core/ports/records.ts';
import { FIELD } from '../encoding/layout.ts';
import { refusalIn } from './answers.ts';
import { listOf, type Operation } from './script-runner.ts';

type Result<Name extends keyof Records> = Awaited<ReturnType<Records[Name]>>;

interface RecordKey {
  readonly kind: string;
  readonly key: string;
  readonly ifVersion?: number | undefined;
}

const numberText = (value: number | undefined): string => (value === undefined ? '' : String(value));

const get: Operation<RecordKey, Result<'get'>> = async (scripts, { kind, key }, now) => {
  const record = await scripts.run('records-get', [kind, key], now);
  return typeof record === 'string' ? readRecord(kind, key, record) : null;
};

const put: Operation<PutRecord, Result<'put'>> = async (scripts, record, now) => {
  const { kind, key, value, ifVersion, expiresAt } = record;
  const args = [kind, key, value, numberText(ifVersion), numberText(expiresAt)];
  const answer = String(await scripts.run('records-put', args, now));
  return refusalIn(answer, `${kind} ${key}`) ?? { ok: true, version: Number(answer) };
};

const list: Operation<RecordQuery, Result<'list'>> = async (scripts, { kind, prefix = '', after, limit }, now) => {
  const from = after === undefined ? '' : `=${after}`;
  return readList(kind, listOf(await scripts.run('records-list', [kind, prefix, from, String(limit)], now)));
};

const remove: Operation<RecordKey, Result<'delete'>> = async (scripts, { kind, key, ifVersion }, now) => {
  const answer = String(await scripts.run('records-delete', [kind, key, numberText(ifVersion)], now));
  return refusalIn(answer, `${kind} ${key}`) ?? { ok: true };
};

export const RECORD_OPERATIONS = {
  'records.get': get,
  'records.put': put,
  'records.list': list,
  'records.delete': remove,
} as const;

function readList(kind: string, answer: readonly string[]): StoredRecord[] {
  const records: StoredRecord[] = [];
  for (let at = 0; at < answer.length; at += 2) records.push(readRecord(kind, answer[at] ?? '', answer[at + 1] ?? ''));
  return records;
}

/** The value comes last and unescaped: it may contain anything. */
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
