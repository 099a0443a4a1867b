/**
 * Does harm to the workers of an environment and remembers what it did to whom, and when. What it kills it replaces.
 *
 * It must never touch a process that it was not given.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fixture } from '../support/processes.ts';
import type { FaultEnvironment, WorkerPlan } from './fault-environment.ts';
import { type Harm, type Interval, monotonicMs } from './ledger.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface NemesisOptions {
  readonly environment: FaultEnvironment;
  readonly plan: WorkerPlan;
  readonly random: SeededRandom;
  /** How long a worker stands still at the least: longer than its lease. */
  readonly freezeMs: number;
}

/** A process that goes on finds out only then how long it stood still: what it begins in this time, it begins unknowing. */
const THAW_MS = 100;

export class Nemesis implements Harm {
  readonly killedAt = new Map<number, number>();
  readonly stopped = new Map<number, Interval[]>();
  readonly #options: NemesisOptions;
  readonly #workers = new Set<Fixture>();
  /** Whoever stands still, by our hand or by its own. */
  readonly #still = new Set<Fixture>();
  /** Those who will stand no longer, and those who are being hired. */
  readonly #awaited = new Set<Promise<void>>();
  /** How often a handler stopped its own process just before it settled, and how often a process was stopped from here. */
  freezes = 0;
  stops = 0;

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  async hire(count: number): Promise<void> {
    const { environment, plan } = this.#options;
    for (const worker of await environment.startWorkers(count, plan)) {
      this.#workers.add(worker);
      void this.#thawWhoFroze(worker);
    }
  }

  /** Kills or stops somebody now and then, until the time is over and everybody who stood still goes on. */
  async rage(ms: number): Promise<void> {
    const { random } = this.#options;
    for (const endAt = monotonicMs() + ms; monotonicMs() < endAt; ) {
      await sleep(random.between(300, 900));
      if (random.next() < 0.8) this.#killOne();
      else this.#stopOne();
    }
    await this.settled();
  }

  /** Resolved when nobody stands still any more and all who were killed are replaced. */
  async settled(): Promise<void> {
    while (this.#awaited.size > 0) await Promise.all(this.#awaited);
  }

  #killOne(): void {
    const worker = this.#anybody();
    if (worker === null) return;
    this.#workers.delete(worker);
    this.killedAt.set(worker.pid, monotonicMs());
    void worker.kill9();
    this.#await(this.hire(1));
  }

  #stopOne(): void {
    const worker = this.#anybody();
    if (worker === null) return;
    worker.stop();
    this.stops += 1;
    this.#thawLater(worker);
  }

  /** Somebody who does not stand still already; the last one is left alone. */
  #anybody(): Fixture | null {
    const moving = [...this.#workers].filter((worker) => !this.#still.has(worker));
    return moving.length < 2 ? null : this.#options.random.pick(moving);
  }

  /** Handlers may stop their own process just before they settle; they say so, and are continued like the others. */
  async #thawWhoFroze(worker: Fixture): Promise<void> {
    const isFrozen = (message: Readonly<Record<string, unknown>>): boolean => message['type'] === 'frozen';
    const oneDay = 86_400_000;
    while (await worker.next(isFrozen, oneDay).catch(() => null)) {
      this.freezes += 1;
      this.#thawLater(worker);
    }
  }

  #thawLater(worker: Fixture): void {
    const from = monotonicMs();
    this.#still.add(worker);
    const { freezeMs, random } = this.#options;
    const thaw = sleep(freezeMs + random.between(0, 500)).then(() => {
      worker.cont();
      this.#still.delete(worker);
      const stop = { from, to: monotonicMs() + THAW_MS };
      this.stopped.set(worker.pid, [...(this.stopped.get(worker.pid) ?? []), stop]);
    });
    this.#await(thaw);
  }

  #await(work: Promise<void>): void {
    const awaited = work.finally(() => this.#awaited.delete(awaited));
    this.#awaited.add(awaited);
  }
}
