/**
 * Writes a group of calls in one transaction, with one fsync for all of them. If a claim may be answered before it, the
 * fsync follows (commit-sync.ts, held-answers.ts).
 *
 * The calls first run without savepoints. If one throws, the whole group is rolled back and runs again with a savepoint
 * around each call, so that only the call that throws is undone. Savepoints are expensive, and throwing is rare.
 *
 * Invariant: only committed calls are answered with success. When the disk fails during the commit itself, a restart may
 * find the group or not. The group is rolled back and tried once more; if that fails too, the callers get
 * `outcome-unknown`. After a failed sync there is no second try (file-health.ts).
 */

import { LonghaulError } from '../../../core/ports/errors.ts';
import type { ClaimResult, StoreEvent } from '../../../core/ports/job-store.ts';
import type { Tried, WaitingClaims } from '../waiting-claims.ts';
import type { Ballast } from './ballast.ts';
import type { FileHealth } from './file-health.ts';
import type { Request } from './messages.ts';
import type { Session } from './session.ts';
import { explain, isBusy, isDuplicate, isFull, isInputOutput, unknownOutcome } from './sqlite-problem.ts';

export type CallResult = { readonly answer: unknown } | { readonly error: unknown };

export interface Group {
  /** In the order of the requests; fewer than the requests if the time limit was reached. */
  readonly results: readonly CallResult[];
  /** Waiting claims that were performed after the calls. */
  readonly tried: readonly Tried[];
  readonly events: readonly StoreEvent[];
  /** Without an fsync yet: only claims that allow it may be answered (`mayAnswerEarly`). */
  readonly isPending: boolean;
}

/** A call waits little longer than this for the group before it. */
const MAX_GROUP_MS = 20;

/** Whether a call may be answered before an fsync. */
export const mayAnswerEarly = ({ name, sync }: Request): boolean => name === 'claim' && sync === 'later';

const isAdd = ({ name }: Request): boolean => name === 'add';

/** Whether a call started a job that holds a slot of a throttle. */
const tookSlot = ({ name }: Request, result: CallResult): boolean =>
  name === 'claim' && 'answer' in result && (result.answer as ClaimResult).jobs.some(({ slots }) => slots.length > 0);

export class GroupWriter {
  readonly #session: Session;
  readonly #ballast: Ballast;
  readonly #health: FileHealth;

  constructor(session: Session, ballast: Ballast, health: FileHealth) {
    this.#session = session;
    this.#ballast = ballast;
    this.#health = health;
  }

  /** Throws only when another process holds the write lock; then nothing was done. */
  write(requests: readonly Request[], waiting?: WaitingClaims): Group {
    if (this.#health.broken !== undefined) return this.#refuse(requests, this.#health.broken);
    try {
      return this.#transact(requests, (request) => this.#perform(request), waiting);
    } catch (error) {
      this.#health.failed(error);
      if (isBusy(error) || this.#health.broken !== undefined) return this.#refuseUnlessBusy(requests, error);
      if (isFull(error)) this.#makeRoom();
      if (isDuplicate(error)) this.#session.checkAdds();
    }
    try {
      return this.#explained(this.#transact(requests, (request) => this.#performInSavepoint(request), waiting));
    } catch (error) {
      return this.#refuseUnlessBusy(requests, error);
    }
  }

  /** Adds the log of statistics to its cells. While another process holds the lock, a later call does. */
  aggregateStatistics(): void {
    if (this.#health.broken !== undefined) return;
    try {
      this.#session.aggregateStatistics();
    } catch (error) {
      if (!isBusy(error)) this.#health.failed(error);
    }
  }

  #transact(requests: readonly Request[], run: (request: Request) => CallResult, waiting?: WaitingClaims): Group {
    const mayAdd = requests.some(isAdd) && this.#ballast.ensure(!this.#session.others.exist);
    const isEarly = this.#begin(requests, waiting?.requests() ?? []);
    try {
      const endAt = performance.now() + MAX_GROUP_MS;
      const results: CallResult[] = [];
      for (const request of requests) {
        results.push(isAdd(request) && !mayAdd ? this.#full() : run(request));
        if (performance.now() > endAt) break;
      }
      const tried = waiting?.perform(this.#session.events, run) ?? [];
      const hasTakenSlot =
        results.some((result, place) => tookSlot(requests[place] as Request, result)) ||
        tried.some(({ held, result }) => tookSlot(held.call.request, result));
      const events = this.#commit(hasTakenSlot);
      const isPending = isEarly && this.#session.sync.isPending;
      // A call that changed nothing is answered from what it read.
      if (!isPending && !requests.every(mayAnswerEarly)) this.#synced(() => this.#session.sync.syncOthers());
      return { results, tried, events, isPending };
    } catch (error) {
      this.#session.rollback();
      throw error;
    }
  }

  /**
   * Begins a transaction, and returns whether it is committed without an fsync, so that a claim of this engine or of
   * another need not wait for it. `waiting`: claims that the transaction may perform too.
   */
  #begin(requests: readonly Request[], waiting: readonly Request[]): boolean {
    const { others } = this.#session;
    const all = [...requests, ...waiting];
    const isClaimed = requests.some(mayAnswerEarly) || (requests.some(isAdd) && (waiting.length > 0 || others.exist));
    const mayBeEarly = () => all.every((request) => this.#mayCommitEarly(request));
    const isEarly = (requests.length === 0 || isClaimed) && mayBeEarly();
    this.#session.begin(isEarly ? 'later' : undefined);
    if (!isEarly || mayBeEarly()) return isEarly;
    // Another engine has opened the file since the last transaction.
    this.#session.rollback();
    this.#session.begin();
    return false;
  }

  /** A settlement, only while no other engine has the file open: it could start a job that this one made claimable. */
  #mayCommitEarly(request: Request): boolean {
    return mayAnswerEarly(request) || isAdd(request) || (request.name === 'settle' && !this.#session.others.exist);
  }

  #perform(request: Request): CallResult {
    return { answer: this.#session.performOnce(request, this.#session.moment(request)) };
  }

  #performInSavepoint(request: Request): CallResult {
    const moment = this.#session.moment(request);
    try {
      return { answer: this.#session.performInSavepoint(request, moment) };
    } catch (error) {
      if (isFull(error) || isInputOutput(error)) throw error;
      return { error };
    }
  }

  /** Runs after the transaction: to explain an error, the health check may have to probe the disk. */
  #explained({ results, tried, ...rest }: Group): Group {
    const each = (result: CallResult) => ('error' in result ? { error: this.#health.explain(result.error) } : result);
    return { results: results.map(each), tried: tried.map((one) => ({ ...one, result: each(one.result) })), ...rest };
  }

  #commit(hasTakenSlot: boolean): readonly StoreEvent[] {
    return this.#synced(() => this.#session.commit(hasTakenSlot));
  }

  /** Runs what may end with an fsync. After an error of the disk, it is unknown what was written. */
  #synced<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      if (!isInputOutput(error)) throw error;
      this.#health.failed(error);
      throw unknownOutcome(error, this.#session.path);
    }
  }

  /** Frees the ballast so that running jobs can be settled. */
  #makeRoom(): void {
    this.#ballast.release();
    try {
      this.#session.emptyLog();
    } catch {
      // Then the space of the ballast must be enough.
    }
  }

  #refuseUnlessBusy(requests: readonly Request[], error: unknown): Group {
    if (isBusy(error)) throw error;
    return this.#refuse(requests, this.#health.explain(error));
  }

  #refuse(requests: readonly Request[], error: unknown): Group {
    return { results: requests.map(() => ({ error })), tried: [], events: [], isPending: false };
  }

  #full(): CallResult {
    const { path } = this.#session;
    if (this.#ballast.fault !== null) return { error: explain(this.#ballast.fault, path) };
    return { error: new LonghaulError('store-full', `no space left for new jobs in ${path}`) };
  }
}
