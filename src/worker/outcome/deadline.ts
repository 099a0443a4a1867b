/** The monotonic clock, and deadlines for store calls. A call without an answer in time counts as a lost reply. */
import { LonghaulError } from '../../core/ports/errors.ts';

/** A claim or settlement without an answer for this long is repeated. */
export const CALL_DEADLINE_MS = 15_000;

/** The longest delay of a Node timer; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Returns the time of a clock that never steps. All threads of the process share it (unlike performance.now). */
export function monotonicMs(): number {
  const time = process.hrtime();
  return time[0] * 1_000 + time[1] / 1e6;
}

export function withDeadline<T>(call: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(noAnswer(ms)), Math.min(ms, MAX_TIMER_MS));
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

function noAnswer(ms: number): LonghaulError {
  return new LonghaulError('outcome-unknown', `the store did not answer in ${ms} ms`);
}

/** A call that was not answered yet. */
interface OpenCall {
  readonly endsAt: number;
  readonly reject: (error: Error) => void;
}

/** The same deadline for many calls. They share one timer: one for each would be dear beside a call of a tenth of a millisecond. */
export class SharedDeadline {
  readonly #ms: number;
  /** In the order of their calls, which is that of their deadlines. */
  readonly #open = new Set<OpenCall>();
  #timer: NodeJS.Timeout | null = null;

  constructor(ms: number) {
    this.#ms = ms;
  }

  limit<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const open: OpenCall = { endsAt: performance.now() + this.#ms, reject };
      this.#open.add(open);
      this.#timer ??= setTimeout(() => this.#check(), this.#ms).unref();
      call.then(
        (answer) => {
          this.#open.delete(open);
          resolve(answer);
        },
        (error: unknown) => {
          this.#open.delete(open);
          reject(error as Error);
        },
      );
    });
  }

  /** Ends the timer, unless a call is open. A further call starts it again. */
  end(): void {
    if (this.#timer === null || this.#open.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #check(): void {
    this.#timer = null;
    const now = performance.now();
    for (const open of this.#open) {
      if (open.endsAt > now) {
        this.#timer = setTimeout(() => this.#check(), Math.ceil(open.endsAt - now)).unref();
        return;
      }
      this.#open.delete(open);
      open.reject(noAnswer(this.#ms));
    }
  }
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
