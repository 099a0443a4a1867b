/**
 * Fires the schedules of a store, in a node or in any working process. It sleeps until the next run time, but only for
 * seconds: so it notices a clock that was set, a machine that slept, and a schedule that another process created. Any
 * number of runners may run; each run time fires once (fire-schedule.ts).
 */
import { LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';
import type { StoredSchedule } from '../core/schedules/schedule-record.ts';
import { RetryDelay } from '../worker/outcome/retry-delay.ts';
import { fireSchedule } from './fire-schedule.ts';
import { listSchedules } from './schedule-records.ts';
import type { Clocks } from './store-time.ts';
import { OWN_CLOCKS, StoreTime } from './store-time.ts';

const CHECK_EVERY_MS = 5_000;
/** The pause when another runner was faster or more is due, so that two runners never keep each other busy. */
const MIN_PAUSE_MS = 20;
const MAX_PARALLEL = 32;
const RETRY = { firstMs: 500, maxMs: 10_000, random: Math.random };

export interface ScheduleRunner {
  /** Checks the schedules now, and measures the store's time again. */
  wake(): void;
  /** Resolves when no call is in flight. */
  stop(): Promise<void>;
}

export interface ScheduleRunnerOptions {
  readonly store: Store;
  readonly clocks?: Clocks;
  onTrouble(what: string, error: unknown): void;
}

export function startScheduleRunner(options: ScheduleRunnerOptions): ScheduleRunner {
  const runner = new Runner(options);
  const isOver = runner.run();
  return {
    wake: () => runner.wake(),
    stop() {
      runner.end();
      return isOver;
    },
  };
}

class Runner {
  readonly #options: ScheduleRunnerOptions;
  readonly #time: StoreTime;
  readonly #delay = new RetryDelay(RETRY);
  readonly #unreadable = new Set<string>();
  #isEnded = false;
  #isWoken = false;
  #rouse: () => void = () => undefined;

  constructor(options: ScheduleRunnerOptions) {
    this.#options = options;
    this.#time = new StoreTime(options.store.records, options.clocks ?? OWN_CLOCKS);
  }

  wake(): void {
    this.#time.forget();
    this.#isWoken = true;
    this.#rouse();
  }

  end(): void {
    this.#isEnded = true;
    this.#rouse();
  }

  async run(): Promise<void> {
    while (!this.#isEnded) {
      this.#isWoken = false;
      const pause = await this.#round().catch((error: unknown) => {
        this.#options.onTrouble('schedules could not be checked', error);
        this.#time.forget();
        // The role of this connection does not allow it: another process must fire the schedules.
        if (error instanceof LonghaulError && error.code === 'refused') this.#isEnded = true;
        return this.#delay.next();
      });
      await this.#sleep(pause);
    }
  }

  /** Fires what is due. Returns the pause until the next round. */
  async #round(): Promise<number> {
    const { store } = this.#options;
    const schedules = await listSchedules(store.records, (name) => this.#reportUnreadable(name));
    if (schedules.length === 0) return CHECK_EVERY_MS;
    const now = await this.#time.now();
    let next = now + CHECK_EVERY_MS;
    for (let from = 0; from < schedules.length && !this.#isEnded; from += MAX_PARALLEL) {
      const turns = await Promise.all(schedules.slice(from, from + MAX_PARALLEL).map((kept) => this.#fire(kept, now)));
      next = Math.min(next, ...turns.map((at) => at ?? next));
    }
    this.#delay.reset();
    return Math.max(MIN_PAUSE_MS, next - (await this.#time.now()));
  }

  /** An error of one schedule does not keep others from firing. */
  async #fire(kept: StoredSchedule, now: number): Promise<number | null> {
    try {
      return await fireSchedule(this.#options.store, kept, now);
    } catch (error) {
      this.#options.onTrouble(`schedule ${kept.schedule.name} could not fire`, error);
      return now + this.#delay.next();
    }
  }

  #reportUnreadable(name: string): void {
    if (this.#unreadable.has(name)) return;
    this.#unreadable.add(name);
    this.#options.onTrouble(`the record of schedule ${name} cannot be read`, null);
  }

  #sleep(ms: number): Promise<void> {
    if (this.#isEnded || this.#isWoken) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#rouse = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
