/**
 * The relay of an outbox: runs rounds while there are rows, then waits for a notification or the next poll. Any number
 * of relays may run for one outbox. It also reports the state of the outbox to the store, for metrics and the doctor.
 */
import { randomUUID } from 'node:crypto';
import type { OutboxReport } from '../../core/outbox/outbox-report.ts';
import { putOutboxReport } from '../../core/outbox/outbox-report.ts';
import type { Store } from '../../core/ports/store.ts';
import { codeOf } from '../../worker/loop/store-availability.ts';
import { monotonicMs } from '../../worker/outcome/deadline.ts';
import { RetryDelay } from '../../worker/outcome/retry-delay.ts';
import { DatabaseBusy } from './outbox-adapter.ts';
import type { OutboxEvent } from './outbox-event.ts';
import type { OutboxTable } from './outbox-table.ts';
import { runRound } from './relay-round.ts';

export interface RelayOptions {
  readonly store: Store;
  readonly table: OutboxTable;
  readonly name: string;
  readonly host: string;
  readonly pollMs: number;
  readonly leaseMs: number;
  readonly limit: number;
  /** Whether to look for rows before taking them: in SQLite, taking locks the database. */
  readonly looksFirst: boolean;
  emit(event: OutboxEvent): void;
}

const RETRY = { firstMs: 100, maxMs: 5_000, random: Math.random };
/** The user's transaction is open on the same connection: it is short, or the program has a bug. */
const BUSY_MS = 5;
const REPORT_EVERY_MS = 5_000;

export class Relay {
  readonly #options: RelayOptions;
  readonly #holder = randomUUID();
  readonly #delay = new RetryDelay(RETRY);
  #isEnded = false;
  #isWoken = false;
  #isAway = false;
  #reportAt = 0;
  #rouse: () => void = () => undefined;
  #over: Promise<void> | null = null;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  start(): void {
    this.#over ??= this.#run();
  }

  /** Looks for rows at once. */
  wake(): void {
    this.#isWoken = true;
    this.#rouse();
  }

  /** Resolves when no call is in flight. */
  async stop(): Promise<void> {
    this.#isEnded = true;
    this.#rouse();
    await this.#over;
  }

  async #run(): Promise<void> {
    while (!this.#isEnded) {
      this.#isWoken = false;
      const pause = await this.#turn().catch((error: unknown) => this.#failed(error));
      await this.#sleep(pause);
    }
  }

  /** Runs a round. Returns the pause until the next one. */
  async #turn(): Promise<number> {
    const { table, pollMs, looksFirst } = this.#options;
    const count = looksFirst && !(await table.hasRows()) ? 0 : await this.#round();
    this.#delay.reset();
    if (this.#isAway) this.#emit({ type: 'back' });
    this.#isAway = false;
    await this.#report();
    return count > 0 ? 0 : pollMs;
  }

  #round(): Promise<number> {
    const { store, table, leaseMs, limit } = this.#options;
    return runRound({ store, table, leaseMs, limit, holder: this.#holder, emit: (event) => this.#emit(event) });
  }

  #failed(error: unknown): number {
    if (error instanceof DatabaseBusy) return BUSY_MS;
    if (!this.#isAway) this.#emit({ type: 'away', error });
    this.#isAway = true;
    return this.#delay.next();
  }

  /** Reports at an interval, so that a reader of the store notices a relay that has stopped. */
  async #report(): Promise<void> {
    const now = monotonicMs();
    if (now < this.#reportAt) return;
    this.#reportAt = now + REPORT_EVERY_MS;
    const { store, name, host } = this.#options;
    const at = Date.now();
    const { lagMs, ...counts } = await this.#options.table.status();
    const report: OutboxReport = { ...counts, oldestAt: counts.waiting === 0 ? null : at - lagMs, at, host };
    try {
      await putOutboxReport(store.records, name, report);
    } catch (error) {
      if (codeOf(error) !== 'refused') throw error;
      this.#reportAt = Number.POSITIVE_INFINITY;
      this.#emit({
        type: 'trouble',
        what: 'the state of the outbox is not reported: it needs the role operate',
        error,
      });
    }
  }

  /** A listener that throws must not stop the relay. A failed row is reported at once. */
  #emit(event: OutboxEvent): void {
    if (event.type === 'failed' && Number.isFinite(this.#reportAt)) this.#reportAt = 0;
    try {
      this.#options.emit(event);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  #sleep(ms: number): Promise<void> {
    if (this.#isEnded || (this.#isWoken && !this.#isAway)) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#rouse = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
