/**
 * Claims that wait in the memory store for a job. Each is performed again after events of its queues and when its next
 * job is due, until it gets a job, its time is over or it is withdrawn.
 */
import type { CallOptions, ClaimRequest, ClaimResult, ClaimWait, StoreEvent } from '../../core/ports/job-store.ts';
import { mayBeClaimed } from '../../core/ports/job-store.ts';

interface HeldClaim {
  readonly queues: readonly string[];
  retry(): void;
  end(): void;
}

type Perform = (request: ClaimRequest, options: CallOptions | undefined) => ClaimResult;

export class WaitingClaims {
  readonly #perform: Perform;
  /** The one that waits longest is first. */
  readonly #held = new Set<HeldClaim>();
  #isRetrying = false;

  constructor(perform: Perform) {
    this.#perform = perform;
  }

  claim(request: ClaimRequest, options: CallOptions | undefined): ClaimResult | Promise<ClaimResult> {
    const result = this.#perform(request, options);
    const wait = options?.wait;
    if (result.jobs.length > 0 || wait === undefined || wait.signal.aborted) return result;
    return new Promise((resolve, reject) => {
      const retry = (): ClaimResult => this.#perform(request, options);
      this.#hold(request.queues, { wait, empty: result, retry, resolve, reject });
    });
  }

  /** Performs the claims again that the events concern. Events of these claims themselves concern no other. */
  retry(events: readonly StoreEvent[]): void {
    if (this.#held.size === 0 || this.#isRetrying) return;
    this.#isRetrying = true;
    const queues = new Set(events.filter(mayBeClaimed).map(({ queue }) => queue));
    for (const held of this.#held) if (held.queues.some((queue) => queues.has(queue))) held.retry();
    this.#isRetrying = false;
  }

  /** Answers all without jobs. */
  close(): void {
    for (const held of this.#held) held.end();
  }

  #hold(queues: readonly string[], claim: OpenClaim): void {
    const { wait, resolve, reject } = claim;
    const endAt = performance.now() + wait.ms;
    let { empty } = claim;
    let timer = setTimeout(() => undefined);
    const leave = (): void => {
      clearTimeout(timer);
      wait.signal.removeEventListener('abort', held.end);
      this.#held.delete(held);
    };
    const held: HeldClaim = {
      queues,
      retry: () => {
        try {
          const result = claim.retry();
          empty = result;
          if (result.jobs.length === 0) return next();
          leave();
          resolve(result);
        } catch (error) {
          leave();
          reject(error);
        }
      },
      end: () => {
        leave();
        resolve(empty);
      },
    };
    const next = (): void => {
      clearTimeout(timer);
      const leftMs = endAt - performance.now();
      const dueMs = empty.nextAt !== null && empty.nextAt > empty.now ? empty.nextAt - empty.now : leftMs;
      timer = dueMs < leftMs ? setTimeout(held.retry, dueMs) : setTimeout(held.end, leftMs);
    };
    wait.signal.addEventListener('abort', held.end);
    this.#held.add(held);
    next();
  }
}

interface OpenClaim {
  readonly wait: ClaimWait;
  /** The answer to the first try. */
  readonly empty: ClaimResult;
  retry(): ClaimResult;
  resolve(result: ClaimResult): void;
  reject(error: unknown): void;
}
