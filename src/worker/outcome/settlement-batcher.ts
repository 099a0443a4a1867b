/**
 * The settlement batcher: brings settlements to the store, many in a call, and repeats each until the store answers it.
 *
 * What ends in one turn of the event loop travels in one call. While calls are under way the next ones gather. A
 * settlement that the store could not take is written into the journal and repeated; since it is answered by its
 * token, a repeat is safe.
 *
 * Invariant: only a settlement that can never be written becomes a failure. An error of the store never does that,
 * whatever its code: the attempt has ended, and its outcome is kept until the store accepts or refuses it.
 */

import { failureOf } from '../../core/job/failure.ts';
import type { JobStore, Settlement, SettleResult } from '../../core/ports/job-store.ts';
import type { Refused } from '../../core/ports/refusal.ts';
import type { Reach } from '../loop/store-availability.ts';
import { isAway, isInputError } from '../loop/store-availability.ts';
import { atMost, CALL_DEADLINE_MS, withDeadline } from './deadline.ts';
import type { Journal } from './outcome-journal.ts';
import { RetryDelay } from './retry-delay.ts';

export interface SettlementBatcherOptions {
  readonly jobs: JobStore;
  readonly reach: Reach;
  readonly journal: Journal | null;
  random(): number;
  onTrouble(what: string, error: unknown): void;
}

/** Null: neither the settlement nor the failure in its place can ever be written. */
export type Answered = (settlement: Settlement, answer: SettleResult | null) => void;

interface Owed {
  readonly settlement: Settlement;
  readonly answered: Answered;
  /** A failure in place of a settlement that can never be written. */
  readonly isSubstitute: boolean;
  /** An error other than an outage was reported for it. */
  isReported: boolean;
}

/** Two: the store works on one while the next is on its way. More would only make the calls smaller. */
const MAX_CALLS = 2;
/** Settlements of one call. */
const MAX_BATCH = 500;
const FIRST_RETRY_MS = 100;
/** Well below the time for which a stop waits for the last answers. */
const MAX_RETRY_MS = 1_000;
/** After so many single settlements in a row that the store cannot take, the rest of the batch waits for the next round. */
const MAX_SINGLE_ERRORS = 3;

export class SettlementBatcher {
  readonly #options: SettlementBatcherOptions;
  readonly #delay: RetryDelay;
  #fresh: Owed[] = [];
  /** Could not be delivered yet. */
  #late: Owed[] = [];
  #calls = 0;
  #isRepeating = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | null = null;
  #onEmpty: (() => void)[] = [];

  constructor(options: SettlementBatcherOptions) {
    this.#options = options;
    this.#delay = new RetryDelay({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: options.random });
  }

  push(settlement: Settlement, answered: Answered): void {
    this.#fresh.push(owe(settlement, answered));
  }

  /** Sends what has gathered. Called in the same turn as the claim for the slots that became free. */
  flush(): void {
    while (this.#fresh.length > 0 && this.#calls < MAX_CALLS) {
      const batch = this.#fresh.splice(0, MAX_BATCH);
      void this.#send(batch);
    }
  }

  /** What an earlier process left behind, which is in the journal already. */
  inherit(settlements: readonly Settlement[], answered: Answered): void {
    for (const settlement of settlements) this.#late.push(owe(settlement, answered));
    this.repeatNow();
  }

  /** The store is back, or may be. */
  repeatNow(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#late.length > 0 && !this.#isRepeating) void this.#repeat();
  }

  /** Resolved when every settlement has its answer, or when the time is over; the rest stays in the journal. */
  async drain(ms: number): Promise<void> {
    this.flush();
    this.repeatNow();
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty.push(resolve);
      this.#endIfEmpty();
    });
    await atMost(empty, ms);
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #send(batch: readonly Owed[]): Promise<void> {
    this.#calls += 1;
    const owed = await this.#deliver(batch);
    this.#calls -= 1;
    if (owed.length > 0) this.#owe(owed);
    this.flush();
    this.#endIfEmpty();
  }

  /** Returns what the store has not answered. */
  async #deliver(batch: readonly Owed[]): Promise<readonly Owed[]> {
    const { jobs, reach } = this.#options;
    let answers: readonly SettleResult[];
    try {
      const settlements = batch.map(({ settlement }) => settlement);
      answers = await withDeadline(jobs.settle(settlements), CALL_DEADLINE_MS);
    } catch (error) {
      if (!isAway(error)) return await this.#deliverApart(batch, error);
      reach.failed(error);
      return batch;
    }
    reach.answered();
    return await this.#takeAnswers(batch, answers);
  }

  async #takeAnswers(batch: readonly Owed[], answers: readonly SettleResult[]): Promise<readonly Owed[]> {
    const owed: Owed[] = [];
    for (const [index, each] of batch.entries()) {
      const answer = answers[index];
      if (answer === undefined) owed.push(this.#keep(each, new Error('the store did not answer this settlement')));
      else if (isUnkept(answer)) owed.push(...(await this.#deliverSubstitute(each, refusalError(answer))));
      else each.answered(each.settlement, answer);
    }
    return owed;
  }

  /** One settlement may be the reason, and the others must not wait for it. */
  async #deliverApart(batch: readonly Owed[], error: unknown): Promise<readonly Owed[]> {
    const [only] = batch;
    if (only !== undefined && batch.length === 1) {
      return isInputError(error) ? await this.#deliverSubstitute(only, error) : [this.#keep(only, error)];
    }
    const owed: Owed[] = [];
    for (let index = 0, errors = 0; index < batch.length; index += 1) {
      // The untried ones come first in the next round.
      if (errors === MAX_SINGLE_ERRORS) return [...batch.slice(index), ...owed];
      const left = await this.#deliver(batch.slice(index, index + 1));
      errors = left.length === 0 ? 0 : errors + 1;
      owed.push(...left);
    }
    return owed;
  }

  /** A disk error, missing rights, a bug: the attempt has ended as it says, so the settlement stays and is repeated. */
  #keep(owed: Owed, error: unknown): Owed {
    if (!owed.isReported) this.#options.onTrouble('a settlement could not be written; it is kept and repeated', error);
    owed.isReported = true;
    return owed;
  }

  /** The settlement can never be written, so the attempt counts as failed for that reason. */
  async #deliverSubstitute(owed: Owed, error: unknown): Promise<readonly Owed[]> {
    this.#options.onTrouble('a settlement can never be written', error);
    if (owed.isSubstitute) {
      owed.answered(owed.settlement, null);
      return [];
    }
    const { id, token } = owed.settlement;
    const settlement: Settlement = { id, token, kind: 'fail', failure: failureOf(error), delayMs: 0, final: true };
    return await this.#deliver([{ ...owe(settlement, owed.answered), isSubstitute: true }]);
  }

  #owe(batch: readonly Owed[]): void {
    this.#late.push(...batch);
    this.#write(batch);
    this.#repeatLater();
  }

  #write(batch: readonly Owed[]): void {
    const { journal, onTrouble } = this.#options;
    const written = journal?.append(batch.map(({ settlement }) => settlement));
    written?.catch((error: unknown) => onTrouble('the journal could not be written', error));
  }

  #repeatLater(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.repeatNow();
    }, this.#delay.next());
  }

  /** All that is late, batch by batch, until the store takes nothing of one. */
  async #repeat(): Promise<void> {
    this.#isRepeating = true;
    const untried = this.#late;
    const kept: Owed[] = [];
    this.#late = [];
    let isAnswering = true;
    while (untried.length > 0 && isAnswering && !this.#isClosed) {
      const batch = untried.splice(0, MAX_BATCH);
      const owed = await this.#deliver(batch);
      isAnswering = owed.length < batch.length;
      if (isAnswering) this.#delay.reset();
      kept.push(...owed);
      await this.#rewrite(batch, owed);
    }
    this.#late.unshift(...untried, ...kept);
    this.#isRepeating = false;
    if (this.#late.length > 0) this.#repeatLater();
    this.#endIfEmpty();
  }

  /** The journal forgets what was answered; a failure in place of a settlement is written in its stead. */
  async #rewrite(batch: readonly Owed[], owed: readonly Owed[]): Promise<void> {
    const [before, after] = [new Set(batch), new Set(owed)];
    await this.#forget(batch.filter((each) => !after.has(each)));
    this.#write(owed.filter((each) => !before.has(each)));
  }

  async #forget(batch: readonly Owed[]): Promise<void> {
    const { journal, onTrouble } = this.#options;
    const tokens = batch.map(({ settlement }) => settlement.token);
    if (tokens.length === 0) return;
    await journal?.answered(tokens).catch((error: unknown) => onTrouble('the journal could not be written', error));
  }

  #endIfEmpty(): void {
    if (this.#calls > 0 || this.#isRepeating || this.#fresh.length > 0 || this.#late.length > 0) return;
    for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}

function owe(settlement: Settlement, answered: Answered): Owed {
  return { settlement, answered, isSubstitute: false, isReported: false };
}

/** The job cannot wait for the jobs that the settlement names: repeating it would change nothing. */
function isUnkept(answer: SettleResult): answer is Refused {
  return !answer.ok && answer.refusal.code === 'bad-dependency';
}

function refusalError({ refusal }: Refused): Error {
  return new Error(`${refusal.code}: ${refusal.message}`);
}
