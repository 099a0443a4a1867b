/** Calls of the store that do not answer in time count as lost replies: repeating them is safe by the port's word. */
import { LonghaulError } from '../../core/ports/errors.ts';

/** A claim or a settlement without an answer for so long is made again. */
export const CALL_DEADLINE_MS = 15_000;

/** Node's timers cannot wait longer, and take more for nothing at all. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

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

/** Resolved when the work is, or when the time is over, whichever comes first. */
export function atMost(work: Promise<unknown>, ms: number): Promise<void> {
  return withDeadline(work, ms).then(
    () => undefined,
    () => undefined,
  );
}

/** Answers how to end it. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
}
