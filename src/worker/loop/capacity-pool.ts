/**
 * What a machine or a process offers to the jobs it runs (core/limits/resources.ts), shared by the workers that run there.
 *
 * Invariant: what is free is lent to one claim at a time, until its answer has come: two claims under way never count on
 * the same units. What is in use is what the jobs need that run now, so nothing is lost with one that is killed.
 */
import type { Job } from '../../core/job/job.ts';
import type { Offer, Resources } from '../../core/limits/resources.ts';
import { needsOf, needsText, without } from '../../core/limits/resources.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';

interface User {
  running(): readonly { readonly job: Pick<Job, 'queue' | 'policy'> }[];
}

export class CapacityPool {
  readonly whole: string;
  readonly #units: Resources;
  readonly #users = new Map<object, () => readonly string[]>();
  #borrower: object | null = null;

  constructor(units: Resources) {
    this.#units = units;
    this.whole = needsText(units);
  }

  join(worker: User, settingsFor: (queue: string) => QueueSettings): void {
    this.#users.set(worker, () => worker.running().map(({ job }) => needsOf(job, settingsFor(job.queue))));
  }

  leave(worker: object): void {
    this.#users.delete(worker);
    this.giveBack(worker);
  }

  /** For a claim that goes out now. While another's is under way there is nothing free. */
  lend(worker: object): Offer {
    if (this.#borrower !== null && this.#borrower !== worker) return { whole: this.whole, free: '' };
    this.#borrower = worker;
    const used = [...this.#users.values()].flatMap((inUse) => inUse());
    return { whole: this.whole, free: needsText(used.reduce(without, this.#units)) };
  }

  /** The claim was answered, and what it was given is in use. */
  giveBack(worker: object): void {
    if (this.#borrower === worker) this.#borrower = null;
  }
}
