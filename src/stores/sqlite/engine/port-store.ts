/**
 * A store over a port to its engine. The lease renewer thread opens one with `openPortStore`: it uses the engine of its
 * process even while the main thread is blocked.
 */
import type { MessagePort } from 'node:worker_threads';
import { MessageChannel } from 'node:worker_threads';
import type { CallArgument, CallName, CallResult } from '../../../core/operations/perform.ts';
import { jobStoreOver } from '../../../core/operations/port.ts';
import type { CallOptions, JobStore } from '../../../core/ports/job-store.ts';
import { migrationOver } from '../../../core/ports/migration.ts';
import type { Records } from '../../../core/ports/records.ts';
import type { Store, StoreDescription } from '../../../core/ports/store.ts';
import { openFileLogs } from '../file-logs.ts';
import { PortClient } from './port-client.ts';

export interface PortStoreOptions {
  readonly port: MessagePort;
  /** The directory of the database, where the logs are. */
  readonly home: string;
}

export async function openPortStore({ port, home }: PortStoreOptions): Promise<Store> {
  const client = new PortClient(port);
  return storeOver(client, home, async () => {
    await client.drain();
    client.close();
  });
}

/** The store of the caller that opened the engine: closing it also ends the engine, and `ended` resolves then. */
export function ownStore(client: PortClient, home: string, ended: Promise<unknown>): Store {
  return storeOver(client, home, async () => {
    await client.drain();
    client.send({ kind: 'close' });
    await ended;
  });
}

function storeOver(client: PortClient, home: string, close: () => Promise<void>): Store {
  let closing: Promise<void> | undefined;
  const jobs = jobsOver(client);
  return {
    jobs,
    records: recordsOver(client),
    logs: openFileLogs(home, jobs),
    migration: migrationOver((name, argument) => client.call(`migration.${name}`, argument)),
    isShared: false,
    describe: () => describe(client, home),
    close: () => (closing ??= close()),
  };
}

function jobsOver(client: PortClient): JobStore {
  const send = <Name extends CallName>(name: Name, argument: CallArgument<Name>, options?: CallOptions) =>
    client.call(name, argument, options) as Promise<CallResult<Name>>;
  return jobStoreOver(send, (listener, scope) => client.subscribe(listener, scope));
}

function recordsOver(client: PortClient): Records {
  const send = <Answer>(...call: Parameters<PortClient['call']>) => client.call(...call) as Promise<Answer>;
  return {
    get: (kind, key, options) => send('records.get', { kind, key }, options),
    put: (record, options) => send('records.put', record, options),
    list: (query, options) => send('records.list', query, options),
    delete: (kind, key, { now, ...condition } = {}) =>
      send('records.delete', { kind, key, ...condition }, now === undefined ? {} : { now }),
  };
}

function describe(client: PortClient, home: string): StoreDescription {
  const { port1, port2 } = new MessageChannel();
  client.send({ kind: 'join', port: port1 }, [port1]);
  return {
    module: new URL('../open-store.js', import.meta.url).href,
    options: { port: port2, home },
    transfer: [port2],
  };
}
