/**
 * Token buckets by key: each key has a rate per second and a burst of ten seconds. One call may overdraw its bucket; the
 * key then waits until the bucket refills. So a large batch is delayed, and not refused forever.
 */
const BURST_SECONDS = 10;
const MAX_KEYS = 10_000;

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

  /** Returns how long the key must wait; 0 if it need not. */
  waitMs(key: string): number {
    const { level } = this.#filled(key);
    return level > 0 ? 0 : Math.ceil(((1 - level) / this.#perSecond) * 1_000);
  }

  take(key: string, amount: number): void {
    const bucket = this.#filled(key);
    bucket.level -= amount;
    this.#buckets.delete(key);
    // Evicts the least recently used key, whose bucket is most likely full. This bounds the memory.
    if (this.#buckets.size >= MAX_KEYS) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    this.#buckets.set(key, bucket);
  }

  #filled(key: string): Bucket {
    const capacity = this.#perSecond * BURST_SECONDS;
    const now = this.#now();
    const { level, at } = this.#buckets.get(key) ?? { level: capacity, at: now };
    return { level: Math.min(capacity, level + (Math.max(0, now - at) / 1_000) * this.#perSecond), at: now };
  }
}
