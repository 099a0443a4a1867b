/**
 * The fault injector: kills and stops workers of an environment, records each fault with its time, and replaces killed
 * workers.
 *
 * It must never signal a process that it did not start.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fixture } from '../support/processes.ts';
import type { FaultEnvironment, WorkerPlan } from './fault-environment.ts';
import { type InjectedFaults, type Interval, monotonicMs } from './ledger.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface NemesisOptions {
  readonly environment: FaultEnvironment;
  readonly plan: WorkerPlan;
  readonly random: SeededRandom;
  /** The minimum time a worker is stopped: longer than its lease. */
  readonly freezeMs: number;
}

/** A continued process needs this time to learn that it was stopped. */
const THAW_MS = 100;

export class Nemesis implements InjectedFaults {
  readonly killedAt = new Map<number, readonly number[]>();
  readonly stopped = new Map<number, Interval[]>();
  readonly #options: NemesisOptions;
  readonly #workers = new Set<Fixture>();
  /** Stopped workers, by the injector or by themselves. */
  readonly #frozen = new Set<Fixture>();
  /** Pending continuations and replacements. */
  readonly #pending = new Set<Promise<void>>();
  /** How often a handler stopped its own process before it settled, and how often the injector stopped one. */
  freezes = 0;
  stops = 0;

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  async startWorkers(count: number): Promise<void> {
    const { environment, plan } = this.#options;
    for (const worker of await environment.startWorkers(count, plan)) {
      this.#workers.add(worker);
      void this.#thawFrozen(worker);
    }
  }

  /** Kills or stops workers at random until the time is over and all stopped workers continue. */
  async run(ms: number): Promise<void> {
    const { random } = this.#options;
    for (const endAt = monotonicMs() + ms; monotonicMs() < endAt; ) {
      await sleep(random.between(300, 900));
      if (random.next() < 0.8) this.#killOne();
      else this.#stopOne();
    }
    await this.settled();
  }

  /** Resolves when no worker is stopped and all killed ones are replaced. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  #killOne(): void {
    const worker = this.#pickWorker();
    if (worker === null) return;
    this.#workers.delete(worker);
    this.killedAt.set(worker.pid, [monotonicMs()]);
    void worker.kill9();
    this.#track(this.startWorkers(1));
  }

  #stopOne(): void {
    const worker = this.#pickWorker();
    if (worker === null) return;
    worker.stop();
    this.stops += 1;
    this.#thawLater(worker);
  }

  /** Returns a worker that is not stopped; null if it is the last one. */
  #pickWorker(): Fixture | null {
    const active = [...this.#workers].filter((worker) => !this.#frozen.has(worker));
    return active.length < 2 ? null : this.#options.random.pick(active);
  }

  /** Handlers may stop their own process just before they settle. They report it, and are continued like the others. */
  async #thawFrozen(worker: Fixture): Promise<void> {
    const isFrozen = (message: Readonly<Record<string, unknown>>): boolean => message['type'] === 'frozen';
    const oneDay = 86_400_000;
    while (await worker.next(isFrozen, oneDay).catch(() => null)) {
      this.freezes += 1;
      this.#thawLater(worker);
    }
  }

  #thawLater(worker: Fixture): void {
    const from = monotonicMs();
    this.#frozen.add(worker);
    const { freezeMs, random } = this.#options;
    const thaw = sleep(freezeMs + random.between(0, 500)).then(() => {
      worker.cont();
      this.#frozen.delete(worker);
      const stop = { from, to: monotonicMs() + THAW_MS };
      this.stopped.set(worker.pid, [...(this.stopped.get(worker.pid) ?? []), stop]);
    });
    this.#track(thaw);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }
}
