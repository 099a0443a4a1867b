/**
 * The HTTP store: the store ports over a node's API. For machines that do not share a store, and for processes beside a
 * node, through its unix socket.
 *
 * It has no rules and no cache: the server's store decides.
 */

import { isReadOnly } from '../../core/operations/perform.ts';
import { type CallCarrier, jobStoreOver } from '../../core/operations/port.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { CallOptions, ClaimRequest, NewJob } from '../../core/ports/job-store.ts';
import type { LogAppendResult, LogPage, LogStore } from '../../core/ports/log-store.ts';
import { migrationOver } from '../../core/ports/migration.ts';
import type { Records } from '../../core/ports/records.ts';
import type { Store, StoreDescription } from '../../core/ports/store.ts';
import type { RecordCallName } from '../../wire/record-checks.ts';
import { callAddress, EVENTS_ADDRESS, logAddress, recordAddress } from '../../wire/store-addresses.ts';
import { ClaimOrder } from './claim-order.ts';
import { Events } from './events.ts';
import { HttpClient } from './http-client.ts';
import type { HttpStoreOptions } from './options.ts';
import { settingsOf } from './options.ts';

export async function openHttpStore(options: HttpStoreOptions): Promise<Store> {
  const settings = settingsOf(options);
  const events = new Events(() => client.request('GET', EVENTS_ADDRESS, { accept: 'text/event-stream' }));
  const client: HttpClient = new HttpClient(settings, () => events.settling);
  const send = (path: string, call: HttpCall): Promise<unknown> => {
    const { argument, now, isRead, headers = {} } = call;
    const sent = { argument, ...(settings.sendsNow && now !== undefined && { now }) };
    return client.call(path, { argument: sent, isRead, headers });
  };
  const claims = new ClaimOrder();
  const carry = ((name, argument, call) => {
    const headers = name === 'add' ? traceHeaders(argument as readonly NewJob[]) : {};
    const sendNow = () => send(callAddress(name), { argument, now: call?.now, isRead: isReadOnly(name), headers });
    return name === 'claim' ? claims.send((argument as ClaimRequest).worker, sendNow) : sendNow();
  }) as CallCarrier;
  const jobs = jobStoreOver(carry, (listener) => events.subscribe(listener));
  // A wrong address or token fails here, and not at the first job.
  await jobs.find([]).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  let closing: Promise<void> | undefined;
  return {
    jobs,
    records: recordsOver(send),
    logs: logsOver(send),
    migration: migrationOver(refuseMigration),
    isShared: settings.socketPath === null,
    describe: () => describeStore(options),
    close: () => (closing ??= close(client, events)),
  };
}

interface HttpCall {
  readonly argument: unknown;
  readonly now: number | undefined;
  readonly isRead: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Each job carries its own context; the header is for what stands between client and node. */
function traceHeaders(jobs: readonly NewJob[]): Readonly<Record<string, string>> {
  const traceparent = jobs.find(({ policy }) => policy?.traceparent !== undefined)?.policy?.traceparent;
  return traceparent === undefined ? {} : { traceparent };
}

function recordsOver(send: (path: string, call: HttpCall) => Promise<unknown>): Records {
  const carry = <Answer>(name: RecordCallName, argument: unknown, options?: CallOptions) => {
    const isRead = name === 'get' || name === 'list';
    return send(recordAddress(name), { argument, now: options?.now, isRead }) as Promise<Answer>;
  };
  return {
    get: (kind, key, options) => carry('get', { kind, key }, options),
    put: (record, options) => carry('put', record, options),
    list: (query, options) => carry('list', query, options),
    delete: (kind, key, { now, ...condition } = {}) =>
      carry('delete', { kind, key, ...condition }, now === undefined ? {} : { now }),
  };
}

function logsOver(send: (path: string, call: HttpCall) => Promise<unknown>): LogStore {
  return {
    append: (argument, options) =>
      send(logAddress('append'), { argument, now: options?.now, isRead: false }) as Promise<LogAppendResult>,
    read: (argument, options) =>
      send(logAddress('read'), { argument, now: options?.now, isRead: true }) as Promise<LogPage | null>,
    restore: refuseMigration,
  };
}

/** A store migration needs the store itself; a node's API gives access only to its jobs. */
function refuseMigration(): Promise<never> {
  const message =
    "a store cannot be migrated through a node: give the address of the node's store (sqlite: or redis:) instead";
  return Promise.reject(new LonghaulError('refused', message));
}

async function close(client: HttpClient, events: Events): Promise<void> {
  const closed = client.close();
  events.close();
  await closed;
}

function describeStore(options: HttpStoreOptions): StoreDescription {
  return { module: new URL('./open-store.js', import.meta.url).href, options: { ...options }, transfer: [] };
}
