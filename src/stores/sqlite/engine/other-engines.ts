/**
 * The other engines on the same file, seen from this one: whether they wrote, what they did, and what all of them
 * saw of the clock. Without others nothing of this costs anything but a question at the begin of a transaction.
 */
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import { ClockFile } from './clock-file.ts';
import { EventLog } from './event-log.ts';
import { Peers } from './peers.ts';
import type { Database, Statement } from './sqlite-database.ts';
import { firstRow } from './sqlite-database.ts';
import type { StoreClock } from './store-clock.ts';

export interface OthersOptions {
  readonly path: string;
  readonly clock: StoreClock;
  /** Whether anybody wants to hear what others did. */
  readonly isAnyoneListening: () => boolean;
  readonly heard: (events: readonly StoreEvent[]) => void;
}

export class Others {
  readonly #options: OthersOptions;
  readonly #peers: Peers;
  readonly #log: EventLog;
  readonly #clockFile: ClockFile;
  readonly #dataVersion: Statement;
  #seenVersion: number | undefined;

  constructor(db: Database, options: OthersOptions) {
    this.#options = options;
    this.#peers = new Peers(db);
    this.#log = new EventLog(db, this.#peers.id);
    this.#clockFile = new ClockFile(options.path);
    this.#dataVersion = db.prepare('PRAGMA data_version');
  }

  get areThere(): boolean {
    return this.#peers.hasOthers;
  }

  get pids(): readonly number[] {
    return this.#peers.pids;
  }

  /** In a transaction. What they do from here on is heard. */
  enter(): void {
    this.#peers.enter();
    this.#log.skip();
    if (this.areThere) this.#options.clock.arriveLate();
  }

  leave(): void {
    this.#peers.leave();
  }

  /** Writes the row of this engine anew. */
  renew(): void {
    this.#peers.renew();
  }

  checkAlive(): void {
    this.#peers.checkAlive();
  }

  close(): void {
    this.#clockFile.close();
  }

  /** Another one whenever one of them wrote; undefined while the log is being recovered, which is getting on too. */
  get progress(): number | undefined {
    try {
      return this.#version();
    } catch {
      return undefined;
    }
  }

  /** Whether one of them wrote since the last `hear`. */
  haveWritten(): boolean {
    return this.#version() !== this.#seenVersion;
  }

  hear(): void {
    const version = this.#version();
    this.#peers.reload();
    const events = this.#options.isAnyoneListening() ? this.#log.hear() : this.#log.skip();
    this.#seenVersion = version;
    if (events.length > 0) this.#options.heard(events);
  }

  /** What is known of them is read again the next time. */
  forget(): void {
    this.#seenVersion = undefined;
  }

  /** At the begin of a transaction that may write. */
  readClock(): void {
    if (this.areThere) this.#options.clock.agree(this.#clockFile.read());
  }

  /** At its end, also when it changed nothing: that somebody called is worth telling. */
  writeClock(): void {
    if (this.areThere) this.#clockFile.write(this.#options.clock.memory);
  }

  /** At the end of one that changed something. */
  tell(events: readonly StoreEvent[]): void {
    if (this.areThere && events.length > 0) this.#log.write(events);
    this.#peers.sweep();
  }

  #version(): number | undefined {
    return firstRow<readonly [number]>(this.#dataVersion)?.[0];
  }
}
