/**
 * Keeps the schedules of a store going, in a node or in any process that works: sleeps until the next slot, and never
 * longer than some seconds, so that a clock that was set, a machine that slept and a schedule that another process made are all
 * noticed. Any number of them may run; a slot fires once (fire-schedule.ts).
 */
import { LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';
import type { KeptSchedule } from '../core/schedules/schedule-record.ts';
import { RetryDelay } from '../worker/outcome/retry-delay.ts';
import { fireSchedule } from './fire-schedule.ts';
import { listSchedules } from './schedule-records.ts';
import type { Clocks } from './store-time.ts';
import { OWN_CLOCKS, StoreTime } from './store-time.ts';

const LOOK_EVERY_MS = 5_000;
/** Somebody else was faster, or more is due: not at once, so that two never keep each other busy. */
const LEAST_PAUSE_MS = 20;
const AT_ONCE = 32;
const RETRY = { firstMs: 500, maxMs: 10_000, random: Math.random };

export interface ScheduleRunner {
  /** Looks now, and measures the time anew. */
  wake(): void;
  /** Resolved when nothing of it is under way. */
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
        this.#options.onTrouble('schedules could not be looked at', error);
        this.#time.forget();
        // The role of this connection does not allow it: another process must do it.
        if (error instanceof LonghaulError && error.code === 'refused') this.#isEnded = true;
        return this.#delay.next();
      });
      await this.#sleep(pause);
    }
  }

  /** How long nothing is to be done. */
  async #round(): Promise<number> {
    const { store } = this.#options;
    const schedules = await listSchedules(store.records, (name) => this.#tellUnreadable(name));
    if (schedules.length === 0) return LOOK_EVERY_MS;
    const now = await this.#time.now();
    let next = now + LOOK_EVERY_MS;
    for (let from = 0; from < schedules.length && !this.#isEnded; from += AT_ONCE) {
      const looks = await Promise.all(schedules.slice(from, from + AT_ONCE).map((kept) => this.#fire(kept, now)));
      next = Math.min(next, ...looks.map((at) => at ?? next));
    }
    this.#delay.reset();
    return Math.max(LEAST_PAUSE_MS, next - (await this.#time.now()));
  }

  /** What one schedule cannot do keeps no other from firing. */
  async #fire(kept: KeptSchedule, now: number): Promise<number | null> {
    try {
      return await fireSchedule(this.#options.store, kept, now);
    } catch (error) {
      this.#options.onTrouble(`schedule ${kept.schedule.name} could not fire`, error);
      return now + this.#delay.next();
    }
  }

  #tellUnreadable(name: string): void {
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
