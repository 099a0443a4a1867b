/**
 * The settler: brings settlements to the store, many in a call, and does not rest until each has its answer.
 *
 * What ends in one turn of the event loop travels in one call. While calls are under way the next ones gather. A
 * settlement that the store could not take is written into the journal and repeated; since it is answered by its
 * token, a repeat is safe.
 */

import { failureOf } from '../core/failure.ts';
import type { JobStore, Settlement, SettleResult } from '../core/job-store.ts';
import type { Refused } from '../core/refusal.ts';
import { atMost, CALL_DEADLINE_MS, withDeadline } from './deadline.ts';
import type { Journal } from './journal.ts';
import type { Reach } from './reach.ts';
import { isAway } from './reach.ts';
import { RetryDelay } from './retry-delay.ts';

export interface SettlerOptions {
  readonly jobs: JobStore;
  readonly reach: Reach;
  readonly journal: Journal | null;
  random(): number;
  onTrouble(what: string, error: unknown): void;
}

/** Null: the store will not take it, whatever is done. */
export type Answered = (settlement: Settlement, answer: SettleResult | null) => void;

interface Owed {
  readonly settlement: Settlement;
  readonly answered: Answered;
  /** It was made of one that the store could not read. */
  readonly isSubstitute: boolean;
}

/** Two: the store works on one while the next is on its way. More would only make the calls smaller. */
const MAX_CALLS = 2;
/** Settlements of one call. */
const MAX_BATCH = 500;
const FIRST_RETRY_MS = 100;
/** Well below the time for which a stop waits for the last answers. */
const MAX_RETRY_MS = 1_000;

export class Settler {
  readonly #options: SettlerOptions;
  readonly #delay: RetryDelay;
  #fresh: Owed[] = [];
  /** Could not be delivered yet. */
  #late: Owed[] = [];
  #calls = 0;
  #isRepeating = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | null = null;
  #onEmpty: (() => void)[] = [];

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#delay = new RetryDelay({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: options.random });
  }

  push(settlement: Settlement, answered: Answered): void {
    this.#fresh.push({ settlement, answered, isSubstitute: false });
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
    for (const settlement of settlements) this.#late.push({ settlement, answered, isSubstitute: false });
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

  /** Answers what is still owed, because the store is away. */
  async #deliver(batch: readonly Owed[]): Promise<readonly Owed[]> {
    const { jobs, reach } = this.#options;
    try {
      const settlements = batch.map(({ settlement }) => settlement);
      const answers = await withDeadline(jobs.settle(settlements), CALL_DEADLINE_MS);
      reach.answered();
      const unkept = batch.filter((_, index) => isUnkept(answers[index]));
      batch.forEach(({ settlement, answered }, index) => {
        if (!isUnkept(answers[index])) answered(settlement, answers[index] ?? null);
      });
      return await this.#deliverOthers(unkept, answers);
    } catch (error) {
      if (!isAway(error)) return await this.#deliverApart(batch, error);
      reach.failed(error);
      return batch;
    }
  }

  /** What was refused for what it said, and not for its lease: the attempt has ended all the same. */
  async #deliverOthers(unkept: readonly Owed[], answers: readonly SettleResult[]): Promise<readonly Owed[]> {
    const owed: Owed[] = [];
    const refusals = answers.filter(isUnkept);
    for (const [index, each] of unkept.entries()) {
      const { code, message } = refusals[index]?.refusal ?? { code: '', message: '' };
      owed.push(...(await this.#deliverSubstitute(each, new Error(`${code}: ${message}`))));
    }
    return owed;
  }

  /** One of them is such that the store cannot read it, and the others must not suffer for it. */
  async #deliverApart(batch: readonly Owed[], error: unknown): Promise<readonly Owed[]> {
    const [only] = batch;
    if (only !== undefined && batch.length === 1) return await this.#deliverSubstitute(only, error);
    const owed: Owed[] = [];
    for (const each of batch) owed.push(...(await this.#deliver([each])));
    return owed;
  }

  /** The attempt ended, but what it said cannot be kept: that is a failure, and somebody must see it. */
  async #deliverSubstitute(owed: Owed, error: unknown): Promise<readonly Owed[]> {
    this.#options.onTrouble('a settlement could not be read by the store', error);
    if (owed.isSubstitute) {
      owed.answered(owed.settlement, null);
      return [];
    }
    const { id, token } = owed.settlement;
    const settlement: Settlement = { id, token, kind: 'fail', failure: failureOf(error), delayMs: 0, final: true };
    return await this.#deliver([{ settlement, answered: owed.answered, isSubstitute: true }]);
  }

  #owe(batch: readonly Owed[]): void {
    const { journal, onTrouble } = this.#options;
    this.#late.push(...batch);
    const written = journal?.append(batch.map(({ settlement }) => settlement));
    written?.catch((error: unknown) => onTrouble('the journal could not be written', error));
    this.#repeatLater();
  }

  #repeatLater(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.repeatNow();
    }, this.#delay.next());
  }

  /** All that is late, a batch after the other, until the store fails again. */
  async #repeat(): Promise<void> {
    this.#isRepeating = true;
    let isAnswering = true;
    while (this.#late.length > 0 && isAnswering && !this.#isClosed) {
      const batch = this.#late.splice(0, MAX_BATCH);
      const owed = await this.#deliver(batch);
      this.#late.unshift(...owed);
      isAnswering = owed.length === 0;
      if (isAnswering) this.#delay.reset();
      await this.#forget(batch.filter((each) => !owed.includes(each)));
    }
    this.#isRepeating = false;
    if (this.#late.length > 0) this.#repeatLater();
    this.#endIfEmpty();
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

/** It cannot wait for the jobs that it named: repeating it would change nothing. */
function isUnkept(answer: SettleResult | undefined): answer is Refused {
  return answer?.ok === false && answer.refusal.code === 'bad-dependency';
}
