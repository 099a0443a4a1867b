/** A store as a whole: the ports, a description by which another thread can open it, and `close`. */
import type { JobStore } from './job-store.ts';
import type { LogStore } from './log-store.ts';
import type { MigrationPort } from './migration.ts';
import type { Records } from './records.ts';

/** What the lease renewer thread needs to open the same store itself. `module` exports `openStore(options)`. */
export interface StoreDescription {
  readonly module: string;
  readonly options: unknown;
  /** Objects to transfer with the options rather than copy (a message port). */
  readonly transfer: readonly object[];
}

/** The thread of a store that has one: it can run the lease renewer as well. */
export interface StoreThread {
  /**
   * Imports a module in the thread and calls its `serve(store, port)` with the jobs of the store and the message port. If
   * that fails, `{ kind: 'failed', message, code }` is posted to the port. The port closes when the thread ends.
   */
  run(module: string, port: object): void;
}

export interface Store {
  readonly jobs: JobStore;
  readonly records: Records;
  /** The logs of handlers, where they have no data directory. */
  readonly logs: LogStore;
  /** The port for migration to another store. */
  readonly migration: MigrationPort;
  /** Whether other machines may take a lost job: decides how a worker acts while the store is unavailable. */
  readonly isShared: boolean;
  /** Null if a lease can only be renewed through this very object (memory). */
  describe(): StoreDescription | StoreThread | null;
  /** Idempotent; resolves when every call has its answer and everything is closed. */
  close(): Promise<void>;
}
