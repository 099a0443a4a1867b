/**
 * The settlement batcher: sends settlements to the store, many in a call, and repeats each until the store answers it.
 *
 * Attempts that end in one turn of the event loop are settled in one call. Settlements that arrive while calls are in
 * flight wait for the next call. A settlement that the store could not take is written to the journal and repeated.
 * The store identifies it by its token, so a repeat is safe.
 *
 * Invariant: only a settlement that can never be written becomes a failure. An error of the store never does that,
 * whatever its code: the attempt has ended, and its outcome is kept until the store accepts or refuses it.
 */
import { failureOf } from '../../core/job/failure.ts';
import type { JobStore, Settlement, SettleResult } from '../../core/ports/job-store.ts';
import type { Refused } from '../../core/ports/refusal.ts';
import type { StoreAvailability } from '../loop/store-availability.ts';
import { isInputError, isUnavailable } from '../loop/store-availability.ts';
import { atMost, CALL_DEADLINE_MS, SharedDeadline } from './deadline.ts';
import type { Journal } from './outcome-journal.ts';
import { RetryDelay } from './retry-delay.ts';

export interface SettlementBatcherOptions {
  readonly jobs: JobStore;
  readonly availability: StoreAvailability;
  readonly journal: Journal | null;
  random(): number;
  onTrouble(what: string, error: unknown): void;
}

/** A settlement as it was sent, and the store's answer. */
export interface Settled {
  readonly settlement: Settlement;
  /** Null when neither the settlement nor the failure in its place can ever be written. */
  readonly answer: SettleResult | null;
}

interface PendingSettlement {
  readonly settlement: Settlement;
  onSettled(settled: Settled): void;
  /** A failure in place of a settlement that can never be written. */
  readonly isSubstitute: boolean;
  /** An error other than an outage was already reported for it. */
  isReported: boolean;
}

/**
 * A call is sent with a claim, of which two are in flight at most. The SQLite store answers the claims first: the
 * settlements of several calls share an fsync.
 */
const MAX_CALLS = 8;
/** Settlements in one call. */
const MAX_BATCH = 500;
const FIRST_RETRY_MS = 100;
/** Far below the time for which `stop` waits for the last answers. */
const MAX_RETRY_MS = 1_000;
/** After so many single settlements in a row that the store cannot take, the rest of the batch waits for the next round. */
const MAX_SINGLE_ERRORS = 3;

export class SettlementBatcher {
  readonly #options: SettlementBatcherOptions;
  readonly #delay: RetryDelay;
  readonly #deadline = new SharedDeadline(CALL_DEADLINE_MS);
  #fresh: PendingSettlement[] = [];
  /** Not delivered at the first try. */
  #late: PendingSettlement[] = [];
  #calls = 0;
  #isRepeating = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | null = null;
  #onEmpty: (() => void)[] = [];

  constructor(options: SettlementBatcherOptions) {
    this.#options = options;
    this.#delay = new RetryDelay({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: options.random });
  }

  /** Queues a settlement for the next `flush`. Resolves when the store answers it. */
  settle(settlement: Settlement): Promise<Settled> {
    return new Promise((resolve) => this.#fresh.push(pending(settlement, resolve)));
  }

  /** Sends the queued settlements. Called in the same turn as the claim for the slots that became free. */
  flush(): void {
    while (this.#fresh.length > 0 && this.#calls < MAX_CALLS) {
      const batch = this.#fresh.splice(0, MAX_BATCH);
      void this.#send(batch);
    }
  }

  /** Delivers settlements of an earlier process, which are in the journal already. */
  adopt(settlements: readonly Settlement[], onSettled: (settled: Settled) => void): void {
    for (const settlement of settlements) this.#late.push(pending(settlement, onSettled));
    this.repeatNow();
  }

  /** Repeats late settlements without further delay: the store is available again, or may be. */
  repeatNow(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#late.length > 0 && !this.#isRepeating) void this.#repeat();
  }

  /** Resolves when the store has answered every settlement, or after `ms`; the rest stays in the journal. */
  async drain(ms: number): Promise<void> {
    this.flush();
    this.repeatNow();
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty.push(resolve);
      this.#endIfEmpty();
    });
    await atMost(empty, ms);
    this.#isClosed = true;
    this.#deadline.end();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #send(batch: readonly PendingSettlement[]): Promise<void> {
    this.#calls += 1;
    const unanswered = await this.#deliver(batch);
    this.#calls -= 1;
    if (unanswered.length > 0) this.#repeatLate(unanswered);
    this.flush();
    this.#endIfEmpty();
  }

  /** Returns the settlements that the store has not answered. */
  async #deliver(batch: readonly PendingSettlement[]): Promise<readonly PendingSettlement[]> {
    const { jobs, availability } = this.#options;
    let answers: readonly SettleResult[];
    try {
      // Not by `map`: docs/decisions/0035-what-v8-compiles.md.
      const settlements: Settlement[] = [];
      for (const { settlement } of batch) settlements.push(settlement);
      answers = await this.#deadline.limit(jobs.settle(settlements));
    } catch (error) {
      if (!isUnavailable(error)) return await this.#deliverApart(batch, error);
      availability.failed(error);
      return batch;
    }
    availability.answered();
    return await this.#takeAnswers(batch, answers);
  }

  async #takeAnswers(
    batch: readonly PendingSettlement[],
    answers: readonly SettleResult[],
  ): Promise<readonly PendingSettlement[]> {
    const unanswered: PendingSettlement[] = [];
    for (let index = 0; index < batch.length; index += 1) {
      const each = batch[index] as PendingSettlement;
      const answer = answers[index];
      if (answer === undefined)
        unanswered.push(this.#keep(each, new Error('the store did not answer this settlement')));
      else if (isUnwritable(answer)) unanswered.push(...(await this.#deliverSubstitute(each, refusalError(answer))));
      else each.onSettled({ settlement: each.settlement, answer });
    }
    return unanswered;
  }

  /** Sends each settlement in a call of its own: one may be the cause, and the others must not wait for it. */
  async #deliverApart(batch: readonly PendingSettlement[], error: unknown): Promise<readonly PendingSettlement[]> {
    const [only] = batch;
    if (only !== undefined && batch.length === 1) {
      return isInputError(error) ? await this.#deliverSubstitute(only, error) : [this.#keep(only, error)];
    }
    const unanswered: PendingSettlement[] = [];
    for (let index = 0, errors = 0; index < batch.length; index += 1) {
      // The untried ones come first in the next round.
      if (errors === MAX_SINGLE_ERRORS) return [...batch.slice(index), ...unanswered];
      const left = await this.#deliver(batch.slice(index, index + 1));
      errors = left.length === 0 ? 0 : errors + 1;
      unanswered.push(...left);
    }
    return unanswered;
  }

  /** After a disk error, missing rights or a bug: the outcome of the attempt stands, so the settlement is repeated. */
  #keep(each: PendingSettlement, error: unknown): PendingSettlement {
    if (!each.isReported) this.#options.onTrouble('a settlement could not be written; it is kept and repeated', error);
    each.isReported = true;
    return each;
  }

  /** Records the attempt as failed, because its settlement can never be written. */
  async #deliverSubstitute(each: PendingSettlement, error: unknown): Promise<readonly PendingSettlement[]> {
    this.#options.onTrouble('a settlement can never be written', error);
    if (each.isSubstitute) {
      each.onSettled({ settlement: each.settlement, answer: null });
      return [];
    }
    const { id, token } = each.settlement;
    const settlement: Settlement = { id, token, kind: 'fail', failure: failureOf(error), delayMs: 0, final: true };
    return await this.#deliver([{ ...pending(settlement, each.onSettled), isSubstitute: true }]);
  }

  #repeatLate(batch: readonly PendingSettlement[]): void {
    this.#late.push(...batch);
    this.#write(batch);
    this.#repeatLater();
  }

  #write(batch: readonly PendingSettlement[]): void {
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

  /** Sends the late settlements, batch by batch, until the store takes nothing of a batch. */
  async #repeat(): Promise<void> {
    this.#isRepeating = true;
    const untried = this.#late;
    const kept: PendingSettlement[] = [];
    this.#late = [];
    let isAnswering = true;
    while (untried.length > 0 && isAnswering && !this.#isClosed) {
      const batch = untried.splice(0, MAX_BATCH);
      const unanswered = await this.#deliver(batch);
      isAnswering = unanswered.length < batch.length;
      if (isAnswering) this.#delay.reset();
      kept.push(...unanswered);
      await this.#rewrite(batch, unanswered);
    }
    this.#late.unshift(...untried, ...kept);
    this.#isRepeating = false;
    if (this.#late.length > 0) this.#repeatLater();
    this.#endIfEmpty();
  }

  /** Removes answered settlements from the journal; a substitute replaces the settlement it stands for. */
  async #rewrite(batch: readonly PendingSettlement[], unanswered: readonly PendingSettlement[]): Promise<void> {
    const [before, after] = [new Set(batch), new Set(unanswered)];
    await this.#forget(batch.filter((each) => !after.has(each)));
    this.#write(unanswered.filter((each) => !before.has(each)));
  }

  async #forget(batch: readonly PendingSettlement[]): Promise<void> {
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

function pending(settlement: Settlement, onSettled: PendingSettlement['onSettled']): PendingSettlement {
  return { settlement, onSettled, isSubstitute: false, isReported: false };
}

/** Whether the settlement names jobs that its job cannot wait for: repeating it would change nothing. */
function isUnwritable(answer: SettleResult): answer is Refused {
  return !answer.ok && answer.refusal.code === 'bad-dependency';
}

function refusalError({ refusal }: Refused): Error {
  return new Error(`${refusal.code}: ${refusal.message}`);
}
