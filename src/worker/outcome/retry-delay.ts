/** The delay before a failed call is repeated: it doubles up to a limit, with jitter so that workers do not repeat in step. */
export class RetryDelay {
  readonly #firstMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #failures = 0;

  constructor(options: { firstMs: number; maxMs: number; random: () => number }) {
    this.#firstMs = options.firstMs;
    this.#maxMs = options.maxMs;
    this.#random = options.random;
  }

  next(): number {
    const whole = Math.min(this.#firstMs * 2 ** Math.min(this.#failures, 30), this.#maxMs);
    this.#failures += 1;
    return whole * (1 - 0.5 * this.#random());
  }

  reset(): void {
    this.#failures = 0;
  }
}
