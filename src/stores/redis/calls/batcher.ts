/**
 * Gathers calls that come at the same time into one: while one batch is under way, further items wait for the next.
 *
 * Invariant: items are sent in the order in which they came, and each caller gets the answers to its own.
 * Invariant: at most `batches` are under way, each of at most `size` items.
 */

export interface BatchLimits {
  readonly size: number;
  readonly batches: number;
  /** From so many waiting items on, a batch takes half of them, so that one side works while the other does. */
  readonly halvesFrom?: number;
}

interface Waiting<Item, Answer> {
  readonly items: readonly Item[];
  readonly resolve: (answers: readonly Answer[]) => void;
  readonly reject: (error: unknown) => void;
}

export interface Batch<Item, Answer> {
  readonly items: readonly Item[];
  answer(answers: readonly Answer[]): void;
  reject(error: unknown): void;
}

export class Batcher<Item, Answer> {
  readonly #send: (items: readonly Item[]) => Promise<readonly Answer[]>;
  readonly #limits: BatchLimits;
  #waiting: Waiting<Item, Answer>[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(send: (items: readonly Item[]) => Promise<readonly Answer[]>, limits: BatchLimits) {
    this.#send = send;
    this.#limits = limits;
  }

  async submit(items: readonly Item[]): Promise<readonly Answer[]> {
    const slices = slicesOf(items, this.#limits.size);
    if (slices.length < 2) return this.#enqueue(items);
    return (await Promise.all(slices.map((slice) => this.#enqueue(slice)))).flat();
  }

  /** What waits to be sent, for a call that takes it along. Whoever takes it must answer or reject it. */
  takeWaiting(): Batch<Item, Answer> | null {
    if (this.#waiting.length === 0) return null;
    const callers = this.#takeBatch(this.#limits.size);
    return {
      items: itemsOf(callers),
      answer: (answers) => handOut(callers, answers),
      reject: (error) => rejectAll(callers, error),
    };
  }

  #enqueue(items: readonly Item[]): Promise<readonly Answer[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, resolve, reject });
      this.#schedule();
    });
  }

  /**
   * After the present task, so that all calls of one task travel together. The second half waits until the first one
   * is written, which happens at the end of a turn of the event loop.
   */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= this.#limits.batches || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    const send = (): void => {
      this.#isScheduled = false;
      void this.#sendNext();
    };
    if (this.#underWay > 0 && this.#limits.halvesFrom !== undefined) setImmediate(send);
    else queueMicrotask(send);
  }

  async #sendNext(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const callers = this.#takeBatch(this.#sizeOfNext());
    this.#underWay += 1;
    try {
      const answer = this.#send(itemsOf(callers));
      this.#schedule();
      handOut(callers, await answer);
    } catch (error) {
      rejectAll(callers, error);
    } finally {
      this.#underWay -= 1;
      this.#schedule();
    }
  }

  #sizeOfNext(): number {
    const { size, halvesFrom = Number.POSITIVE_INFINITY } = this.#limits;
    if (this.#underWay > 0 || this.#waiting.length < halvesFrom) return size;
    return Math.min(size, Math.ceil(this.#waiting.length / 2));
  }

  #takeBatch(size: number): Waiting<Item, Answer>[] {
    let count = 0;
    let callers = 0;
    for (const { items } of this.#waiting) {
      if (callers > 0 && count + items.length > size) break;
      count += items.length;
      callers += 1;
    }
    return this.#waiting.splice(0, callers);
  }
}

function itemsOf<Item, Answer>(callers: readonly Waiting<Item, Answer>[]): readonly Item[] {
  return callers.length === 1 ? (callers[0]?.items ?? []) : callers.flatMap(({ items }) => items);
}

function rejectAll<Item, Answer>(callers: readonly Waiting<Item, Answer>[], error: unknown): void {
  for (const { reject } of callers) reject(error);
}

function handOut<Item, Answer>(callers: readonly Waiting<Item, Answer>[], answers: readonly Answer[]): void {
  let from = 0;
  for (const { items, resolve } of callers) {
    resolve(answers.slice(from, from + items.length));
    from += items.length;
  }
}

export function slicesOf<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  if (items.length <= size) return [items];
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
