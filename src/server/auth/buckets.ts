/**
 * Rates held by key: each key may use so much a second, and save up ten seconds' worth. A single call may overdraw what
 * is there and then waits until that is made good, so that a large batch is slowed and not refused for ever.
 */
const SAVED_SECONDS = 10;
const MOST_KEYS = 10_000;

interface Bucket {
  level: number;
  at: number;
}

export class Buckets {
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** How long until the key may go on; 0 when it may now. */
  waitMs(key: string): number {
    const { level } = this.#filled(key);
    return level > 0 ? 0 : Math.ceil(((1 - level) / this.#perSecond) * 1_000);
  }

  take(key: string, amount: number): void {
    const bucket = this.#filled(key);
    bucket.level -= amount;
    this.#buckets.delete(key);
    // The key that was quiet longest has filled up by now, or is the price of a bounded memory.
    if (this.#buckets.size >= MOST_KEYS) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    this.#buckets.set(key, bucket);
  }

  #filled(key: string): Bucket {
    const most = this.#perSecond * SAVED_SECONDS;
    const now = this.#now();
    const { level, at } = this.#buckets.get(key) ?? { level: most, at: now };
    return { level: Math.min(most, level + (Math.max(0, now - at) / 1_000) * this.#perSecond), at: now };
  }
}
