/**
 * Adds of one turn that travel as one call, if their jobs are plain and of one queue: a message with a hundred calls
 * costs both threads more than one call with a hundred jobs.
 *
 * Invariant: a call that joined succeeds or fails as it would alone. So no add joins that could throw because of its own
 * jobs, and each gets the results of its own jobs.
 */
import { isPlain } from '../../core/lifecycle/lifecycle.ts';
import type { AddResult, NewJob } from '../../core/ports/job-store.ts';

/** Jobs of one joined call. */
const MAX_JOINED = 100;

/** How the answer of one of the calls reaches its caller. */
interface Caller {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Is the waiter of the joined call (engine/port-client.ts). */
export class JoinedAdds {
  readonly name = 'add';
  /** The jobs of all calls. */
  readonly argument: NewJob[] = [];
  /** The same as engine/packing.ts sends them. It grows until the call is sent. */
  readonly packed: string[];
  readonly #counts: number[] = [];
  readonly #callers: Caller[] = [];

  constructor(jobs: readonly NewJob[], caller: Caller) {
    this.packed = jobs.slice(0, 1).map(({ queue }) => queue);
    this.join(jobs, caller);
  }

  /** Whether an add may join others of its queue. */
  static mayJoin(jobs: readonly NewJob[]): boolean {
    const queue = jobs[0]?.queue;
    if (typeof queue !== 'string' || jobs.length >= MAX_JOINED) return false;
    return jobs.every(
      (job) => job.queue === queue && typeof job.id === 'string' && typeof job.data === 'string' && isPlain(job),
    );
  }

  get isFull(): boolean {
    return this.argument.length >= MAX_JOINED;
  }

  /** Returns false, and changes nothing, if the jobs are of another queue or too many. They passed `mayJoin`. */
  join(jobs: readonly NewJob[], caller: Caller): boolean {
    if (jobs[0]?.queue !== this.packed[0] || this.argument.length + jobs.length > MAX_JOINED) return false;
    for (const job of jobs) {
      this.argument.push(job);
      this.packed.push(job.id, job.data);
    }
    this.#counts.push(jobs.length);
    this.#callers.push(caller);
    return true;
  }

  readonly resolve = (answer: unknown): void => {
    const results = answer as readonly AddResult[];
    let from = 0;
    for (let place = 0; place < this.#callers.length; place += 1) {
      const count = this.#counts[place] as number;
      (this.#callers[place] as Caller).resolve(count === 1 ? [results[from]] : results.slice(from, from + count));
      from += count;
    }
  };

  readonly reject = (error: Error): void => {
    for (const { reject } of this.#callers) reject(error);
  };
}
