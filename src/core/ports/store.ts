/** A store as a whole: the two ports, how another thread can open it again, and its end. */
import type { JobStore } from './job-store.ts';
import type { MigrationPort } from './migration.ts';
import type { Records } from './records.ts';

/** What a keeper thread needs to open the same store by itself. `module` exports `openStore(options)`. */
export interface StoreDescription {
  readonly module: string;
  readonly options: unknown;
  /** What must be handed over with the options rather than copied (a message port). */
  readonly transfer: readonly object[];
}

export interface Store {
  readonly jobs: JobStore;
  readonly records: Records;
  /** By which all of it moves to another store. */
  readonly migration: MigrationPort;
  /** Whether other machines may take a lost job: decides what a worker does when the store is away. */
  readonly isShared: boolean;
  /** Null where a lease can only be kept through this very object (memory). */
  describe(): StoreDescription | null;
  /** Idempotent; resolved when every call has its answer and everything is closed. */
  close(): Promise<void>;
}
