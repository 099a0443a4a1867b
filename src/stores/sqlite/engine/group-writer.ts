/**
 * Writes a group of calls in one transaction, with one fsync for all of them; for claims it may follow (commit-sync.ts).
 *
 * The calls first run without savepoints. If one throws, the whole group is rolled back and runs again with a savepoint
 * around each call, so that only the call that throws is undone. Savepoints are expensive, and throwing is rare.
 *
 * Invariant: only committed calls are answered with success. When the disk fails during the commit itself, a restart may
 * find the group or not. The group is rolled back and tried once more; if that fails too, the callers get
 * `outcome-unknown`. After a failed sync there is no second try (file-health.ts).
 */

import { LonghaulError } from '../../../core/ports/errors.ts';
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import type { Tried, WaitingClaims } from '../waiting-claims.ts';
import type { Ballast } from './ballast.ts';
import type { FileHealth } from './file-health.ts';
import type { Request } from './messages.ts';
import type { Session } from './session.ts';
import { describeProblem, explain, isBusy, isDuplicate, isFull, isInputOutput } from './sqlite-problem.ts';

export type CallResult = { readonly answer: unknown } | { readonly error: unknown };

export interface Group {
  /** In the order of the requests; fewer than the requests if the time limit was reached. */
  readonly results: readonly CallResult[];
  /** Waiting claims that were performed after the calls. */
  readonly tried: readonly Tried[];
  readonly events: readonly StoreEvent[];
}

/** A call waits little longer than this for the group before it. */
const MAX_GROUP_MS = 20;

/** Whether a call may be answered before an fsync. A group with any other call is committed with one. */
const mayCommitEarly = ([, name, , , sync]: Request): boolean => name === 'claim' && sync === 'later';

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

  #transact(requests: readonly Request[], run: (request: Request) => CallResult, waiting?: WaitingClaims): Group {
    const mayAdd = requests.some(([, name]) => name === 'add') && this.#ballast.ensure();
    if ([...requests, ...(waiting?.requests() ?? [])].every(mayCommitEarly)) this.#session.sync.allowLater();
    this.#session.begin();
    try {
      const endAt = performance.now() + MAX_GROUP_MS;
      const results: CallResult[] = [];
      for (const request of requests) {
        results.push(request[1] === 'add' && !mayAdd ? this.#full() : run(request));
        if (performance.now() > endAt) break;
      }
      const tried = waiting?.perform(this.#session.events, run) ?? [];
      return { results, tried, events: this.#commit() };
    } catch (error) {
      this.#session.rollback();
      throw error;
    }
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
  #explained({ results, tried, events }: Group): Group {
    const each = (result: CallResult) => ('error' in result ? { error: this.#health.explain(result.error) } : result);
    return { results: results.map(each), tried: tried.map((one) => ({ ...one, result: each(one.result) })), events };
  }

  #commit(): readonly StoreEvent[] {
    try {
      return this.#session.commit();
    } catch (error) {
      if (!isInputOutput(error)) throw error;
      this.#health.failed(error);
      throw new LonghaulError(
        'outcome-unknown',
        `${this.#session.path}: the disk failed during the commit: ${describeProblem(error)}`,
        { cause: error },
      );
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
    return { results: requests.map(() => ({ error })), tried: [], events: [] };
  }

  #full(): CallResult {
    const { path } = this.#session;
    if (this.#ballast.fault !== null) return { error: explain(this.#ballast.fault, path) };
    return { error: new LonghaulError('store-full', `no space left for new jobs in ${path}`) };
  }
}
