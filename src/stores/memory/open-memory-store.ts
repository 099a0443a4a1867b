/**
 * The memory store: the lifecycle applied to maps. For tests, and the reference for the other stores.
 *
 * Each call runs to its end before the next begins, so every call is atomic.
 */

import { TRACKED_RECORD, trackingEvent } from '../../core/job/tracked-jobs.ts';
import type { ClockMemory, ClockSource, Moment } from '../../core/lifecycle/clock.ts';
import { NEVER_SEEN, NO_GAP, readClock } from '../../core/lifecycle/clock.ts';
import { throttleIn } from '../../core/limits/bucket.ts';
import { THROTTLE_RECORD } from '../../core/limits/throttle.ts';
import { followClock } from '../../core/operations/clock-step.ts';
import { performMigration } from '../../core/operations/migrate.ts';
import type { CallArgument, CallName, CallResult } from '../../core/operations/perform.ts';
import { isReadOnly, perform } from '../../core/operations/perform.ts';
import { jobStoreOver } from '../../core/operations/port.ts';
import { settingsChanged, throttleChanged } from '../../core/operations/throttles.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { CallOptions, EventListener, JobStore, StoreEvent } from '../../core/ports/job-store.ts';
import type { LogStore } from '../../core/ports/log-store.ts';
import { closedReason, type MigrationPort, migrationOver } from '../../core/ports/migration.ts';
import type { Store } from '../../core/ports/store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { GLOBAL_SETTINGS_KEY, QUEUE_RECORD, settingsIn, settingsOf } from '../../core/settings/settings.ts';
import { MemoryLogs } from './memory-logs.ts';
import { MemoryRecords } from './memory-records.ts';
import { MemoryTable } from './memory-table.ts';
import { MemoryMigrationRows } from './migration-maps.ts';
import { WaitingClaims } from './waiting-claims.ts';

export interface MemoryStoreOptions {
  /** The store's clock. Default: the machine's. */
  readonly now?: () => number;
  readonly clock?: ClockSource;
}

export function openMemoryStore(options: MemoryStoreOptions = {}): Store {
  const store = new MemoryStore(options);
  return {
    jobs: store.jobs,
    records: store.records,
    logs: store.logs,
    migration: store.migration,
    isShared: false,
    describe: () => null,
    close: () => store.close(),
  };
}

const FORGET_AFTER_MS = 86_400_000;

class MemoryStore {
  readonly records: MemoryRecords;
  readonly jobs: JobStore;
  readonly logs: LogStore;
  readonly migration: MigrationPort;
  readonly #table: MemoryTable;
  readonly #logs: MemoryLogs;
  readonly #listeners = new Set<EventListener>();
  readonly #waiting = new WaitingClaims((request, options) => this.#call('claim', request, options));
  readonly #options: MemoryStoreOptions;
  #clock: ClockMemory = NEVER_SEEN;
  #events: StoreEvent[] = [];
  #isClosed = false;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.records = new MemoryRecords(
      (call) => this.#recordsTime(call),
      (kind, key, now) => this.#recordChanged(kind, key, now),
    );
    this.#table = new MemoryTable({
      settings: (queue) => this.#settings(queue),
      throttle: (name) => throttleIn(this.records.peek(THROTTLE_RECORD, name)),
      closed: () => closedReason(migrationRows.standing()),
      logs: (queue) => this.#logs.held(queue),
      emit: (event) => this.#emit(event),
    });
    this.#logs = new MemoryLogs({ job: (id) => this.#table.get(id), settings: (queue) => this.#settings(queue) });
    this.logs = {
      append: async (append, call) => this.#logs.append(append, this.#recordsTime(call)),
      read: async (query, call) => {
        this.#recordsTime(call);
        return this.#logs.read(query);
      },
      restore: async (log) => this.#logs.restore(log),
    };
    const migrationRows = new MemoryMigrationRows(this.#table, this.records);
    this.migration = migrationOver(
      (name, argument) =>
        new Promise((resolve) =>
          resolve(performMigration(migrationRows, { name, argument }, this.#recordsTime(undefined))),
        ),
    );
    const jobs = jobStoreOver(
      (name, argument, call) => new Promise((resolve) => resolve(this.#call(name, argument, call))),
      (listener) => this.#subscribe(listener),
    );
    this.jobs = { ...jobs, claim: async (request, call) => this.#waiting.claim(request, call) };
  }

  async close(): Promise<void> {
    this.#waiting.close();
    this.#isClosed = true;
    this.#listeners.clear();
  }

  #call<Name extends CallName>(
    name: Name,
    argument: CallArgument<Name>,
    options: CallOptions | undefined,
  ): CallResult<Name> {
    this.#mustBeOpen();
    const moment = this.#moment(options, isReadOnly(name));
    const answer = perform(this.#table, name, argument, moment);
    if (name === 'maintain') this.#forget(moment.now);
    this.#publish();
    return answer;
  }

  /** Deletes expired records and keys a day late: after a step back of the clock they may be valid again. */
  #forget(now: number): void {
    this.records.forgetExpired(now - FORGET_AFTER_MS);
    this.#table.forgetKeys(now - FORGET_AFTER_MS);
    if (this.#table.closed() === null) this.#logs.prune(now);
  }

  #emit(event: StoreEvent): void {
    if (event.type === 'deleted') this.#logs.delete(event.id);
    this.#events.push(event);
  }

  #recordsTime(options: CallOptions | undefined): number {
    this.#mustBeOpen();
    return this.#moment(options, true).now;
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw new LonghaulError('store-closed', 'the store is closed');
  }

  /** Returns the time of a call. A read changes nothing, including when the store was last called. */
  #moment(options: CallOptions | undefined, isRead: boolean): Moment {
    const { clock = 'store', now = Date.now } = this.#options;
    const time = clock === 'store' ? now() : (options?.now ?? now());
    if (clock === 'caller') return { now: time, gap: NO_GAP };
    const reading = readClock(this.#clock, time);
    if (isRead) return reading;
    this.#clock = reading.memory;
    followClock(this.#table, reading);
    return reading;
  }

  #settings(queue: string): QueueSettings {
    const [own, shared] = [queue, GLOBAL_SETTINGS_KEY].map((key) => settingsIn(this.records.peek(QUEUE_RECORD, key)));
    return settingsOf(own, shared);
  }

  #recordChanged(kind: string, key: string, now: number): void {
    if (kind === THROTTLE_RECORD) throttleChanged(this.#table, key, now);
    if (kind === QUEUE_RECORD) settingsChanged(this.#table, key, now);
    if (kind === TRACKED_RECORD) {
      const isTracked = this.records.peek(kind, key) !== undefined;
      this.#events.push(trackingEvent(key, isTracked, this.#table.get(key)));
    }
    this.#publish();
  }

  #subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listeners after the call is done, never inside it. */
  #publish(): void {
    if (this.#events.length === 0) return;
    const events = this.#events;
    this.#events = [];
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener(events);
    });
    // Its own events come after these.
    this.#waiting.retry(events);
  }
}
