/**
 * A group of calls in one transaction, with one fsync for all of them.
 *
 * First they run together, with nothing between them. If one of them throws, the whole group is undone and runs
 * again with a savepoint around each call, so that only the one that throws is not done. Savepoints are dear,
 * and throwing is rare.
 *
 * Invariant: an answer is given only for what is committed. When the disk refuses the commit itself, a restart may find
 * it or not. The group is undone here and tried once more; if that fails too, the callers get `outcome-unknown`.
 * After a failed sync there is no second try (file-health.ts).
 */

import { LonghaulError } from '../../../core/ports/errors.ts';
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import type { Ballast } from './ballast.ts';
import type { FileHealth } from './file-health.ts';
import type { Request } from './messages.ts';
import type { Session } from './session.ts';
import { describeProblem, isBusy, isFull, isInputOutput } from './sqlite-problem.ts';

export type Outcome = { readonly answer: unknown } | { readonly error: unknown };

export interface Group {
  /** In the order of the requests; shorter than they are when time was up. */
  readonly outcomes: readonly Outcome[];
  readonly events: readonly StoreEvent[];
}

/** Nobody shall wait much longer than this for those before him. */
const MAX_GROUP_MS = 20;

export class GroupWriter {
  readonly #session: Session;
  readonly #ballast: Ballast;
  readonly #health: FileHealth;

  constructor(session: Session, ballast: Ballast, health: FileHealth) {
    this.#session = session;
    this.#ballast = ballast;
    this.#health = health;
  }

  /** Throws only when another process is writing; then nothing was done. */
  write(requests: readonly Request[]): Group {
    if (this.#health.broken !== undefined) return this.#refuse(requests, this.#health.broken);
    try {
      return this.#transact(requests, (request) => this.#together(request));
    } catch (error) {
      this.#health.failed(error);
      if (isBusy(error) || this.#health.broken !== undefined) return this.#refuseUnlessBusy(requests, error);
      if (isFull(error)) this.#makeRoom();
    }
    try {
      return this.#explained(this.#transact(requests, (request) => this.#apart(request)));
    } catch (error) {
      return this.#refuseUnlessBusy(requests, error);
    }
  }

  #transact(requests: readonly Request[], run: (request: Request) => Outcome): Group {
    const mayAdd = requests.some(([, name]) => name === 'add') && this.#ballast.isThere();
    this.#session.begin();
    try {
      const endAt = performance.now() + MAX_GROUP_MS;
      const outcomes: Outcome[] = [];
      for (const request of requests) {
        outcomes.push(request[1] === 'add' && !mayAdd ? this.#full() : run(request));
        if (performance.now() > endAt) break;
      }
      return { outcomes, events: this.#commit() };
    } catch (error) {
      this.#session.rollback();
      throw error;
    }
  }

  #together(request: Request): Outcome {
    return { answer: this.#session.perform(request, this.#session.moment(request)) };
  }

  #apart(request: Request): Outcome {
    const moment = this.#session.moment(request);
    try {
      return { answer: this.#session.performApart(request, moment) };
    } catch (error) {
      if (isFull(error) || isInputOutput(error)) throw error;
      return { error };
    }
  }

  /** After the transaction: what an error means may need a look at the disk. */
  #explained({ outcomes, events }: Group): Group {
    const each = (outcome: Outcome) => ('error' in outcome ? { error: this.#health.explain(outcome.error) } : outcome);
    return { outcomes: outcomes.map(each), events };
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

  /** What is running must be able to end. */
  #makeRoom(): void {
    this.#ballast.giveUp();
    try {
      this.#session.emptyLog();
    } catch {
      // Then the room of the ballast must do.
    }
  }

  #refuseUnlessBusy(requests: readonly Request[], error: unknown): Group {
    if (isBusy(error)) throw error;
    return this.#refuse(requests, this.#health.explain(error));
  }

  #refuse(requests: readonly Request[], error: unknown): Group {
    return { outcomes: requests.map(() => ({ error })), events: [] };
  }

  #full(): Outcome {
    return { error: new LonghaulError('store-full', `no space left for new jobs in ${this.#session.path}`) };
  }
}
