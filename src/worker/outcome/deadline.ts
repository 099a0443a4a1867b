/** The monotonic clock, and deadlines for store calls. A call without an answer in time counts as a lost reply. */
import { LonghaulError } from '../../core/ports/errors.ts';

/** A claim or settlement without an answer for this long is repeated. */
export const CALL_DEADLINE_MS = 15_000;

/** The longest delay of a Node timer; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Returns the time of a clock that never steps. All threads of the process share it (unlike performance.now). */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

export function withDeadline<T>(call: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new LonghaulError('outcome-unknown', `the store did not answer in ${ms} ms`)),
      Math.min(ms, MAX_TIMER_MS),
    );
    call.then(
      (answer) => {
        clearTimeout(timer);
        resolve(answer);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}

/** Resolves when the work settles, or after `ms`, whichever is first. */
export function atMost(work: Promise<unknown>, ms: number): Promise<void> {
  return withDeadline(work, ms).then(
    () => undefined,
    () => undefined,
  );
}

/** Calls `work` at an interval. Returns a function that ends it. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
}
