/**
 * The http store: the ports of a node's store, over its API. For machines that share no store, and for processes beside a
 * node, through its socket.
 *
 * It holds no rule and no copy of anything: the server's store decides.
 */

import { isReadOnly } from '../../core/operations/perform.ts';
import { type Carrier, portOver } from '../../core/operations/port.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { CallOptions } from '../../core/ports/job-store.ts';
import { migrationOver } from '../../core/ports/migration.ts';
import type { Records } from '../../core/ports/records.ts';
import type { Store, StoreDescription } from '../../core/ports/store.ts';
import type { RecordCallName } from '../../wire/record-checks.ts';
import { callAddress, EVENTS_ADDRESS, recordAddress } from '../../wire/store-addresses.ts';
import { Events } from './events.ts';
import { HttpClient } from './http-client.ts';
import type { HttpStoreOptions } from './options.ts';
import { settingsOf } from './options.ts';

export async function openHttpStore(options: HttpStoreOptions): Promise<Store> {
  const settings = settingsOf(options);
  const events = new Events(() => client.request('GET', EVENTS_ADDRESS, { accept: 'text/event-stream' }));
  const client: HttpClient = new HttpClient(settings, () => events.settling);
  const send = (path: string, call: Sent): Promise<unknown> => {
    const { argument, now, isLook } = call;
    return client.call(path, { argument, ...(settings.sendsNow && now !== undefined && { now }) }, isLook);
  };
  const carry = ((name, argument, call) =>
    send(callAddress(name), { argument, now: call?.now, isLook: isReadOnly(name) })) as Carrier;
  const jobs = portOver(carry, (listener) => events.subscribe(listener));
  // Who cannot be reached, or does not know us, is found out now and not with the first job.
  await jobs.find([]).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  let closing: Promise<void> | undefined;
  return {
    jobs,
    records: recordsOver(send),
    migration: migrationOver(refuseToMove),
    isShared: settings.socketPath === null,
    describe: () => describeStore(options),
    close: () => (closing ??= close(client, events)),
  };
}

interface Sent {
  readonly argument: unknown;
  readonly now: number | undefined;
  readonly isLook: boolean;
}

function recordsOver(send: (path: string, call: Sent) => Promise<unknown>): Records {
  const carry = <Answer>(name: RecordCallName, argument: unknown, options?: CallOptions) => {
    const isLook = name === 'get' || name === 'list';
    return send(recordAddress(name), { argument, now: options?.now, isLook }) as Promise<Answer>;
  };
  return {
    get: (kind, key, options) => carry('get', { kind, key }, options),
    put: (record, options) => carry('put', record, options),
    list: (query, options) => carry('list', query, options),
    delete: (kind, key, { now, ...condition } = {}) =>
      carry('delete', { kind, key, ...condition }, now === undefined ? {} : { now }),
  };
}

/** A node's API hands out jobs, not a store: what moves is the store behind it, and whoever moves it opens that. */
function refuseToMove(): Promise<never> {
  const words =
    'a store moves by its own address (sqlite: or redis:), not through a node; name the one behind the node';
  return Promise.reject(new LonghaulError('refused', words));
}

async function close(client: HttpClient, events: Events): Promise<void> {
  const closed = client.close();
  events.close();
  await closed;
}

function describeStore(options: HttpStoreOptions): StoreDescription {
  return { module: new URL('./open-store.js', import.meta.url).href, options: { ...options }, transfer: [] };
}
