/**
 * The capacity of a machine or process (core/limits/resources.ts), shared by its workers.
 *
 * Invariant: free capacity is lent to one claim at a time, until its answer arrives: two claims in flight never count on
 * the same capacity. The capacity in use is the sum of what running jobs need, so a killed job leaks none.
 */
import type { Job } from '../../core/job/job.ts';
import type { Resources, WorkerCapacity } from '../../core/limits/resources.ts';
import { needsOf, needsText, without } from '../../core/limits/resources.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';

interface PoolMember {
  running(): readonly { readonly job: Pick<Job, 'queue' | 'policy'> }[];
}

export interface CapacityUsage {
  readonly whole: Resources;
  readonly used: Resources;
}

export class CapacityPool {
  readonly whole: string;
  readonly #capacity: Resources;
  readonly #members = new Map<object, () => readonly string[]>();
  #borrower: object | null = null;

  constructor(capacity: Resources) {
    this.#capacity = capacity;
    this.whole = needsText(capacity);
  }

  join(worker: PoolMember, settingsFor: (queue: string) => QueueSettings): void {
    this.#members.set(worker, () => worker.running().map(({ job }) => needsOf(job, settingsFor(job.queue))));
  }

  leave(worker: object): void {
    this.#members.delete(worker);
    this.giveBack(worker);
  }

  /** Returns the capacity for a claim that is sent now. While the claim of another worker is in flight, none is free. */
  lend(worker: object): WorkerCapacity {
    if (this.#borrower !== null && this.#borrower !== worker) return { whole: this.whole, free: '' };
    this.#borrower = worker;
    const used = [...this.#members.values()].flatMap((inUse) => inUse());
    return { whole: this.whole, free: needsText(used.reduce(without, this.#capacity)) };
  }

  /** Returns the capacity and how much of it running jobs take. */
  usage(): CapacityUsage {
    const needs = [...this.#members.values()].flatMap((inUse) => inUse());
    const free = needs.reduce(without, this.#capacity);
    const used = Object.entries(this.#capacity).map(([name, amount]) => [name, amount - (free[name] ?? 0)]);
    return { whole: this.#capacity, used: Object.fromEntries(used) as Resources };
  }

  /** Ends the loan of a claim that was answered: the claimed jobs now count as in use. */
  giveBack(worker: object): void {
    if (this.#borrower === worker) this.#borrower = null;
  }
}
