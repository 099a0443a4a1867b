/** A histogram of durations for Prometheus: counts by upper bound, from milliseconds to days. */
import type { Sample } from './metrics-text.ts';

/** In seconds. Jobs run from milliseconds to days. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400] as const;

export class DurationHistogram {
  readonly #counts = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  #sum = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (seconds > (BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** Returns the samples, cumulative as the format requires. */
  samples(labels: Readonly<Record<string, string>>): readonly Sample[] {
    let count = 0;
    const buckets = this.#counts.map((each, index) => {
      count += each;
      const le = String(BOUNDS[index] ?? '+Inf');
      return { suffix: '_bucket', labels: { ...labels, le }, value: count };
    });
    return [...buckets, { suffix: '_sum', labels, value: this.#sum }, { suffix: '_count', labels, value: count }];
  }
}
