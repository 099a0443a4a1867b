/**
 * Stops the attempts whose lease could not be renewed and is about to end: another worker may get their jobs.
 *
 * It runs on the main thread and reads from the lease table how far the renewer came. The renewer's own thread may be
 * blocked: that of a SQLite store waits for the disk.
 */
import type { RunningAttempts } from '../attempt/running-attempts.ts';
import type { LeaseTable } from './lease-table.ts';

export interface ExpiryWatchOptions {
  readonly table: LeaseTable;
  readonly attempts: RunningAttempts;
  /** The time from one check to the next. */
  readonly tickMs: number;
}

/** An attempt must stop before its lease ends: a quarter of the lease before, but at most ten seconds. */
const MAX_MARGIN_MS = 10_000;

export class ExpiryWatch {
  readonly #options: ExpiryWatchOptions;
  /** Tokens of the leases that were about to end at the last check. */
  #expiring: ReadonlySet<number> = new Set();

  constructor(options: ExpiryWatchOptions) {
    this.#options = options;
  }

  /**
   * Stops no attempt at the first check that finds its lease about to end. A process that was frozen wakes up with all
   * its leases overdue, and the next heartbeat may still renew them or find them lost. The margin leaves room for a
   * second check.
   */
  check(now: number): void {
    const { table, attempts, tickMs } = this.#options;
    const expiring = new Set<number>();
    for (const attempt of attempts.all()) {
      const { token, ms } = attempt.job.lease;
      const validUntil = Math.max(attempt.validUntil, table.renewedUntil(attempt.entry, token));
      const marginMs = Math.min(ms / 4, MAX_MARGIN_MS) + tickMs;
      if (attempt.stopReason === 'lease-lost' || now < validUntil - marginMs) continue;
      expiring.add(token);
      if (this.#expiring.has(token)) attempt.stop('unreachable');
    }
    this.#expiring = expiring;
  }
}
