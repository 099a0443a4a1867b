/** A store over a port to its engine, and the jobs of one for a module that runs in the engine's thread. */
import type { MessagePort } from 'node:worker_threads';
import type { CallArgument, CallName, CallResult } from '../../../core/operations/perform.ts';
import { jobStoreOver } from '../../../core/operations/port.ts';
import type { CallOptions, JobStore } from '../../../core/ports/job-store.ts';
import { migrationOver } from '../../../core/ports/migration.ts';
import type { Records } from '../../../core/ports/records.ts';
import type { Store, StoreThread } from '../../../core/ports/store.ts';
import { openFileLogs } from '../file-logs.ts';
import { PortClient } from './port-client.ts';

/** Closing it closes the port and leaves the engine as it is. */
export function openPortJobs(port: MessagePort): Pick<Store, 'jobs' | 'close'> {
  const client = new PortClient(port);
  return {
    jobs: jobsOver(client),
    close: async () => {
      await client.drain();
      client.close();
    },
  };
}

/**
 * The store of the caller that opened the engine: closing it also ends the engine, and `ended` resolves then. `home` is
 * the directory of the database, where the logs are.
 */
export function ownStore(client: PortClient, home: string, ended: Promise<unknown>): Store {
  let closing: Promise<void> | undefined;
  const jobs = jobsOver(client);
  const close = async (): Promise<void> => {
    await client.drain();
    client.send({ kind: 'close' });
    await ended;
  };
  return {
    jobs,
    records: recordsOver(client),
    logs: openFileLogs(home, jobs),
    migration: migrationOver((name, argument) => client.call(`migration.${name}`, argument)),
    isShared: false,
    describe: () => threadOver(client),
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

function threadOver(client: PortClient): StoreThread {
  return {
    run: (module, port) => client.send({ kind: 'run', module, port: port as MessagePort }, [port as MessagePort]),
  };
}
