/**
 * Decides for each transaction whether its commit waits for an fsync.
 *
 *     commit with fsync (FULL) ──▶ everything before it in the log is durable
 *     commit without (NORMAL)  ──▶ pending ──a commit with fsync, or SYNC_WITHIN_MS──▶ durable
 *
 * Claims whose caller allows it (`sync: 'later'`) are committed without, and so are settlements in the transaction of
 * such a claim, and adds whose jobs such a claim may get, also one of another engine. Only the claims are answered before
 * the fsync (held-answers.ts). A crash of the process loses nothing: the log is in the page cache. A power cut may undo
 * such a claim, and ends the process that holds the lease too.
 *
 * Invariant: a pending claim becomes durable before its attempt gets a file, before an event other than `claimed` is
 * published, and before any other call that changes something is answered: an fsync covers the whole log.
 * Invariant: an answer, except that of such a claim, tells only what is durable, also of what another engine committed.
 * Invariant: no claim is answered that got its job through a pending settlement of another job: the end of a parent, a
 * slot of a throttle or of a queue.
 * Invariant: a token is never given out twice. A power cut undoes at most MAX_PENDING_TOKENS of each engine, and an
 * engine that opens the file skips SKIPPED_TOKENS, enough for 256 engines.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import type { StoreEvent } from '../../core/ports/job-store.ts';
import type { Durability } from './engine/connection.ts';
import type { Database } from './engine/sqlite-database.ts';
import { toSyncProblem } from './engine/sqlite-problem.ts';

/** How long a claim may be pending. Short, so that few attempts are missing in the history after a power cut. */
export const SYNC_WITHIN_MS = 100;
/** Several claims of a worker with a hundred slots: their settlements share an fsync too. */
const MAX_PENDING_TOKENS = 256;
export const SKIPPED_TOKENS = 65_536;
/** A transaction with another event is synced at once, unless it is a retry: it freed jobs, or others follow it. */
const PENDING_EVENTS: readonly StoreEvent['type'][] = ['added', 'claimed', 'completed'];
/** Of an attempt that ended, and whose job waits again. */
const isRetry = ({ type, state }: StoreEvent): boolean =>
  state === 'waiting' && (type === 'failed' || type === 'retried');

export interface CommitSyncOptions {
  readonly path: string;
  readonly durability: Durability;
  /** Called when the fsync of pending commits failed. */
  readonly onFailed: (error: unknown) => void;
}

export class CommitSync {
  readonly #db: Database;
  readonly #options: CommitSyncOptions;
  /** Whether the open or last transaction is committed without fsync. */
  #isEarly = false;
  #pendingTokens = 0;
  /** Whether a pending transaction ended an attempt. */
  #hasEnded = false;
  /** Whether this engine has read what another one may not have synced yet. */
  #hasReadOthers = false;
  #timer: NodeJS.Timeout | undefined;
  #log: number | undefined;

  constructor(db: Database, options: CommitSyncOptions) {
    this.#db = db;
    this.#options = options;
  }

  /**
   * Called before a transaction begins: SQLite changes the level only outside of one. With `sync: 'later'`, it is
   * committed without fsync.
   */
  begin(sync?: 'later'): void {
    const isEarly = sync === 'later' && this.#options.durability === 'full';
    if (isEarly === this.#isEarly) return;
    this.#db.exec(`PRAGMA synchronous = ${isEarly ? 'NORMAL' : 'FULL'}`);
    this.#isEarly = isEarly;
  }

  /**
   * Called after the commit of a transaction that changed something. Throws when an fsync fails. `hasTakenSlot`: a job
   * started that holds a slot of a throttle.
   */
  committed(events: readonly StoreEvent[], hasTakenSlot: boolean): void {
    if (!this.#isEarly) return this.#done();
    this.#timer ??= setTimeout(() => this.#syncDue(), SYNC_WITHIN_MS);
    let isFollowed = false;
    for (const event of events) {
      const isRetried = isRetry(event);
      if (event.type === 'claimed') this.#pendingTokens += 1;
      if (event.type === 'completed' || isRetried) this.#hasEnded = true;
      if (!PENDING_EVENTS.includes(event.type) && !isRetried) isFollowed = true;
    }
    const isInFreedSlot = this.#hasEnded && hasTakenSlot;
    if (this.#pendingTokens > MAX_PENDING_TOKENS || isFollowed || isInFreedSlot) this.now();
  }

  /** Called when a transaction reads what other engines committed. */
  othersWrote(): void {
    this.#hasReadOthers = this.#options.durability === 'full';
  }

  /** Makes durable what this engine has read of others. Called before it answers from that. */
  syncOthers(): void {
    if (this.#hasReadOthers) this.#sync();
  }

  /** Whether a commit waits for an fsync. */
  get isPending(): boolean {
    return this.#timer !== undefined;
  }

  /** Makes pending commits durable. Throws when the fsync fails. */
  now(): void {
    if (this.#timer !== undefined) this.#sync();
  }

  #sync(): void {
    this.#done();
    try {
      this.#log ??= openSync(`${this.#options.path}-wal`, 'r');
      fsyncSync(this.#log);
    } catch (error) {
      throw toSyncProblem(error);
    }
  }

  close(): void {
    this.#syncDue();
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
  }

  #syncDue(): void {
    try {
      this.now();
    } catch (error) {
      this.#options.onFailed(error);
    }
  }

  #done(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pendingTokens = 0;
    this.#hasEnded = false;
    this.#hasReadOthers = false;
  }
}
