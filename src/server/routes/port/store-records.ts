/**
 * The Records port over HTTP. rights.ts decides which roles may read and write which records; only admins see the
 * environment of queues.
 */
import type { Check } from '../../../core/input/check.ts';
import { badInput } from '../../../core/ports/errors.ts';
import type { PutRecord, RecordQuery, StoredRecord } from '../../../core/ports/records.ts';
import type { QueueSettings } from '../../../core/settings/settings.ts';
import { QUEUE_RECORD } from '../../../core/settings/settings.ts';
import { RECORD_ANSWERS } from '../../../wire/port-answers.ts';
import { RECORD_CHECKS } from '../../../wire/record-checks.ts';
import { recordAddress } from '../../../wire/store-addresses.ts';
import { storeCall } from '../../../wire/store-call.ts';
import { withoutSecrets, withSecretsOf } from '../../auth/queue-secrets.ts';
import { roleForSettings, roleToReadRecords, roleToWriteRecords } from '../../auth/rights.ts';
import { refuseRequest } from '../../http/problem.ts';
import { json } from '../../http/reply.ts';
import type { Call, Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { BULK_LIMIT, callOptions } from '../../views/store-call.ts';

const getBody = storeCall(RECORD_CHECKS.get);
const putBody = storeCall(RECORD_CHECKS.put as Check<PutRecord>);
const listBody = storeCall(RECORD_CHECKS.list as Check<RecordQuery>);
const deleteBody = storeCall(RECORD_CHECKS.delete);

export const recordRoutes: readonly Route[] = [
  route({
    name: 'store.records.get',
    method: 'POST',
    path: recordAddress('get'),
    about: 'Returns a record, or null.',
    role: 'read',
    body: getBody,
    answer: RECORD_ANSWERS.get,
    handle: async (call) => {
      const { kind, key } = call.body.argument;
      mayRead(call, kind);
      const record = await call.context.store.records.get(kind, key, callOptions(call.context, call.body.now));
      return json(record === null ? null : shown(call, record));
    },
  }),
  route({
    name: 'store.records.list',
    method: 'POST',
    path: recordAddress('list'),
    about: 'Lists records of one kind, ordered by key.',
    role: 'read',
    body: listBody,
    answer: RECORD_ANSWERS.list,
    handle: async (call) => {
      mayRead(call, call.body.argument.kind);
      const { context, body } = call;
      const records = await context.store.records.list(body.argument, callOptions(context, body.now));
      return json(records.map((record) => shown(call, record)));
    },
  }),
  route({
    name: 'store.records.put',
    method: 'POST',
    path: recordAddress('put'),
    about: 'Writes a record, optionally only if it has a given version.',
    role: 'operate',
    body: putBody,
    answer: RECORD_ANSWERS.put,
    limits: { bodyBytes: BULK_LIMIT },
    handle: async (call) => {
      const { context, body } = call;
      const record = await writable(call, body.argument);
      return json(await context.store.records.put(record, callOptions(context, body.now)));
    },
  }),
  route({
    name: 'store.records.delete',
    method: 'POST',
    path: recordAddress('delete'),
    about: 'Deletes a record, optionally only if it has a given version.',
    role: 'operate',
    body: deleteBody,
    answer: RECORD_ANSWERS.delete,
    handle: async (call) => {
      const { context, body } = call;
      const { kind, key, ifVersion } = body.argument;
      const seen = await mayDelete(call, kind, key);
      const version = ifVersion ?? seen;
      const options = { ...callOptions(context, body.now), ...(version !== undefined && { ifVersion: version }) };
      return json(await context.store.records.delete(kind, key, options));
    },
  }),
];

function mayRead(call: Pick<Call, 'may'>, kind: string): void {
  const role = roleToReadRecords(kind);
  if (role === null) throw refuseRequest('forbidden', `records of kind ${kind} cannot be read through the API`);
  if (!call.may(role)) throw refuseRequest('forbidden', `reading records of kind ${kind} requires the role ${role}`);
}

function shown(call: Pick<Call, 'may'>, record: StoredRecord): StoredRecord {
  if (record.kind !== QUEUE_RECORD || call.may('admin')) return record;
  return { ...record, value: JSON.stringify(withoutSecrets(settingsIn(record.value))) };
}

/** Returns the record as this caller may write it. */
async function writable(call: Pick<Call, 'may' | 'context'>, record: PutRecord): Promise<PutRecord> {
  const { kind, key, value } = record;
  mayWrite(call, kind);
  if (kind !== QUEUE_RECORD) return record;
  const given = settingsIn(value);
  if (call.may('admin')) return record;
  const present = await call.context.store.records.get(kind, key);
  const before = present === null ? {} : settingsIn(present.value);
  const after = withSecretsOf(before, given);
  mayChange(call, before, after);
  // The write is conditional on the compared version: an admin may be changing the script at the same time.
  return { ...record, value: JSON.stringify(after), ifVersion: record.ifVersion ?? present?.version ?? 0 };
}

/** Checks a delete, which also removes settings such as the user of a script. Returns the version that was checked. */
async function mayDelete(call: Pick<Call, 'may' | 'context'>, kind: string, key: string): Promise<number | undefined> {
  mayWrite(call, kind);
  if (kind !== QUEUE_RECORD || call.may('admin')) return undefined;
  const present = await call.context.store.records.get(kind, key);
  if (present !== null) mayChange(call, settingsIn(present.value), {});
  return present?.version;
}

function mayWrite(call: Pick<Call, 'may'>, kind: string): void {
  const role = roleToWriteRecords(kind);
  if (role === null) throw refuseRequest('forbidden', `records of kind ${kind} cannot be written through the API`);
  if (!call.may(role)) throw refuseRequest('forbidden', `writing records of kind ${kind} requires the role ${role}`);
}

function mayChange(call: Pick<Call, 'may'>, before: Partial<QueueSettings>, after: Partial<QueueSettings>): void {
  if (!call.may(roleForSettings(before, after)))
    throw refuseRequest('forbidden', 'changing which code a queue runs, or as which user, requires the role admin');
}

function settingsIn(value: string): Partial<QueueSettings> {
  const settings: unknown = parsed(value);
  if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) return settings;
  throw badInput('request', [{ path: 'argument.value', message: 'must be a JSON object: the settings of a queue' }]);
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}
