/**
 * Batches calls that are made at the same time: while batches are in flight, further items wait for the next one.
 *
 * Invariant: items are sent in the order of their calls, and each caller gets the answers to its own items.
 * Invariant: at most `batches` are in flight, each of at most `size` items.
 */

export interface BatchLimits {
  readonly size: number;
  readonly batches: number;
  /** From this many waiting items on, a batch takes half of them: the server works on one half while the other is written. */
  readonly halvesFrom?: number;
}

interface Waiting<Item, Answer> {
  readonly items: readonly Item[];
  readonly resolve: (answers: readonly Answer[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Items that are sent together, and their callers. The sender must answer or reject it. */
export class Batch<Item, Answer> {
  readonly items: readonly Item[];
  readonly #callers: readonly Waiting<Item, Answer>[];

  constructor(callers: readonly Waiting<Item, Answer>[]) {
    this.#callers = callers;
    this.items = callers.length === 1 ? (callers[0]?.items ?? []) : callers.flatMap(({ items }) => items);
  }

  answer(answers: readonly Answer[]): void {
    let from = 0;
    for (const { items, resolve } of this.#callers) {
      resolve(answers.slice(from, from + items.length));
      from += items.length;
    }
  }

  reject(error: unknown): void {
    for (const { reject } of this.#callers) reject(error);
  }
}

export class Batcher<Item, Answer> {
  readonly #send: (items: readonly Item[]) => Promise<readonly Answer[]>;
  readonly #limits: BatchLimits;
  #waiting: Waiting<Item, Answer>[] = [];
  #inFlight = 0;
  #isScheduled = false;

  constructor(send: (items: readonly Item[]) => Promise<readonly Answer[]>, limits: BatchLimits) {
    this.#send = send;
    this.#limits = limits;
  }

  submit(items: readonly Item[]): Promise<readonly Answer[]> {
    if (items.length <= this.#limits.size) return this.#enqueue(items);
    const slices = slicesOf(items, this.#limits.size).map((slice) => this.#enqueue(slice));
    return Promise.all(slices).then((answers) => answers.flat());
  }

  /** Returns the items that wait, for a call that takes them with it. */
  takeWaiting(): Batch<Item, Answer> | null {
    return this.#waiting.length === 0 ? null : this.#takeBatch(this.#limits.size);
  }

  #enqueue(items: readonly Item[]): Promise<readonly Answer[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, resolve, reject });
      this.#schedule();
    });
  }

  /**
   * Sends after the present task, so that all calls of one task share a batch. The second half waits until the first one
   * is written, which happens at the end of a turn of the event loop.
   */
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= this.#limits.batches || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    if (this.#inFlight > 0 && this.#limits.halvesFrom !== undefined) setImmediate(this.#sendNext);
    else void Promise.resolve().then(this.#sendNext);
  }

  readonly #sendNext = (): void => {
    this.#isScheduled = false;
    if (this.#waiting.length === 0) return;
    const { size, halvesFrom = Number.POSITIVE_INFINITY } = this.#limits;
    const isWhole = this.#inFlight > 0 || this.#waiting.length < halvesFrom;
    const batch = this.#takeBatch(isWhole ? size : Math.min(size, Math.ceil(this.#waiting.length / 2)));
    void this.#deliver(batch);
  };

  async #deliver(batch: Batch<Item, Answer>): Promise<void> {
    this.#inFlight += 1;
    try {
      const answers = this.#send(batch.items);
      this.#schedule();
      batch.answer(await answers);
    } catch (error) {
      batch.reject(error);
    } finally {
      this.#inFlight -= 1;
      this.#schedule();
    }
  }

  #takeBatch(size: number): Batch<Item, Answer> {
    let count = 0;
    let callers = 0;
    for (const { items } of this.#waiting) {
      if (callers > 0 && count + items.length > size) break;
      count += items.length;
      callers += 1;
    }
    return new Batch(this.#waiting.splice(0, callers));
  }
}

export function slicesOf<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  if (items.length <= size) return [items];
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
