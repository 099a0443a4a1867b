/**
 * The attempts that a worker runs now: begins them, and settles them when they are over.
 *
 * Invariant: a lease stands on the table from before its handler begins until the store has answered its settlement
 * or has refused it, so that it is renewed for exactly as long as somebody needs it.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { isRunning } from '../../core/job/job.ts';
import type { ClaimResult, Settlement, SettleResult } from '../../core/ports/job-store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { Saying } from '../lease/lease-renewer.ts';
import type { LeaseTable } from '../lease/lease-table.ts';
import type { WorkerEvent } from '../loop/worker-event.ts';
import { monotonicMs } from '../outcome/monotonic.ts';
import type { SettlementBatcher } from '../outcome/settlement-batcher.ts';
import type { Ending } from '../outcome/to-settlement.ts';
import { toSettlement } from '../outcome/to-settlement.ts';
import type { AttemptHost } from './attempt.ts';
import { Attempt } from './attempt.ts';
import type { RunAttempt } from './run-outcome.ts';
import type { StopReason } from './stop-reason.ts';

export interface AttemptsOptions {
  readonly table: LeaseTable;
  readonly batcher: SettlementBatcher;
  readonly run: RunAttempt;
  settingsFor(queue: string): QueueSettings;
  random(): number;
  say(saying: Saying): void;
  tell(event: WorkerEvent): void;
  /** A slot or an entry of the table is free again. */
  onFree(): void;
  /** The slots of a claim are taken and nothing has begun: the time to ask for more. Answers whether it was done. */
  onHeld(): boolean;
}

export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #host: AttemptHost;
  /**
   * By entry on the table. An array and not a map by token: a map that lives long and changes with every job is
   * copied again and again, and what its old copies hold outlives the next collections of garbage.
   */
  readonly #running: (Attempt | null)[] = [];
  #size = 0;
  #onEmpty: (() => void)[] = [];

  constructor(options: AttemptsOptions) {
    const { run, settingsFor, say, tell } = options;
    this.#options = options;
    this.#host = {
      run,
      settingsFor,
      say,
      onStopping: ({ job }, reason) => tell({ type: 'stopping', job, reason }),
      onEnd: (attempt, ending) => this.#over(attempt, ending),
    };
  }

  get size(): number {
    return this.#size;
  }

  all(): readonly Attempt[] {
    return this.#running.filter((attempt) => attempt !== null);
  }

  get(token: number): Attempt | undefined {
    return this.all().find(({ job }) => job.lease.token === token);
  }

  /**
   * All leases are on the table before the first handler begins, which may never let go of the main thread. If more
   * was asked for meanwhile, they begin when that has left: a store's client writes at the end of a turn of the event
   * loop, and what it writes is served while they run.
   */
  begin(result: ClaimResult, sentAt: number): void {
    const attempts = result.jobs.filter(isRunning).map((job) => this.#hold(job, sentAt - result.now));
    for (const attempt of attempts) if (attempt.isTooLate) attempt.giveBack('its lease was over before it began');
    const start = (): void => {
      for (const attempt of attempts) this.#start(attempt);
    };
    if (this.#options.onHeld()) process.nextTick(() => setImmediate(start));
    else start();
  }

  /** Goes on with attempts of an earlier process. Nobody knows how old their leases are, so they are renewed at once. */
  takeUp(jobs: readonly RunningJob[]): void {
    const held = jobs.map((job) => this.#hold(job, monotonicMs() + job.lease.ms / 2 - job.lease.until));
    for (const attempt of held) this.#start(attempt);
  }

  /** Lets go of all of them without a word: they belong to whoever comes next. */
  forget(): readonly Attempt[] {
    const attempts = this.all();
    for (const attempt of attempts) attempt.forget();
    this.#running.length = 0;
    this.#size = 0;
    return attempts;
  }

  /** Gives back what arrived too late to be begun. */
  refuse(result: ClaimResult, reason: string): void {
    for (const job of result.jobs.filter(isRunning)) {
      const settlement: Settlement = { id: job.id, token: job.lease.token, kind: 'release', reason };
      this.#options.batcher.push(settlement, (said, answer) => this.#tellEnd(job, said, answer, null));
    }
    this.#options.onFree();
  }

  /** The store has refused the lease: nobody renews it any more, and whoever works on it must stop. */
  lost(token: number): void {
    const attempt = this.get(token);
    if (attempt === undefined) return;
    this.#options.table.hide(attempt.entry);
    attempt.stop('lease-lost');
  }

  stopAll(reason: StopReason, graceMs?: number): void {
    for (const attempt of this.all()) attempt.stop(reason, graceMs);
  }

  whenEmpty(): Promise<void> {
    if (this.#size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  /**
   * `offset` turns the store's time into that of the monotonic clock. The store counted the lease from a moment after
   * the claim went out, so the lease never ends sooner than the table says.
   */
  #hold(job: RunningJob, offset: number): Attempt {
    const { token, ms, until } = job.lease;
    const beatMs = beatOf(ms, this.#options.settingsFor(job.queue).heartbeatMs);
    const validUntil = until + offset;
    const entry = this.#options.table.write({ id: job.id, token, ms, beatMs, validUntil });
    const attempt = new Attempt(job, { entry, validUntil }, this.#host);
    while (this.#running.length <= entry) this.#running.push(null);
    this.#running[entry] = attempt;
    this.#size += 1;
    return attempt;
  }

  #start(attempt: Attempt): void {
    if (attempt.isOver) return;
    if (attempt.isTooLate) return this.#startOnceRenewed(attempt);
    this.#options.tell({ type: 'started', job: attempt.job });
    attempt.start();
  }

  /**
   * Others kept the main thread to themselves for longer than its lease. The renewer will have renewed it, but if it
   * could not, the news of that is still on its way: so the store is asked. A refusal stops the attempt by itself.
   */
  #startOnceRenewed(attempt: Attempt): void {
    const start = (): void => {
      if (attempt.isOver) return;
      this.#options.tell({ type: 'started', job: attempt.job });
      attempt.start();
    };
    attempt.heartbeatNow().then(start, () => undefined);
  }

  #over(attempt: Attempt, ending: Ending): void {
    const { settingsFor, random, tell, onFree } = this.#options;
    const { job, entry } = attempt;
    const { outcome, reason } = ending;
    this.#running[entry] = null;
    this.#size -= 1;
    if (outcome === null && reason !== null) tell({ type: 'abandoned', job, reason });
    const settlement = toSettlement(job, ending, { settings: settingsFor(job.queue), random: random() });
    if (settlement === null) this.#settled(attempt, null, null);
    else this.#options.batcher.push(settlement, (said, answer) => this.#settled(attempt, said, answer));
    onFree();
    if (this.#size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  #settled(attempt: Attempt, settlement: Settlement | null, answer: SettleResult | null): void {
    const { table, onFree } = this.#options;
    const wasFull = table.room === 0;
    table.erase(attempt.entry);
    this.#tellEnd(attempt.job, settlement, answer, attempt.stopReason);
    if (wasFull) onFree();
  }

  #tellEnd(
    job: RunningJob,
    settlement: Settlement | null,
    answer: SettleResult | null,
    stopReason: StopReason | null,
  ): void {
    this.#options.tell({ type: 'ended', job, settlement, answer, stopReason });
  }
}

/** As the queue has it, unless that would leave less than half of this lease for a second try: then a quarter. */
export function beatOf(leaseMs: number, heartbeatMs: number): number {
  return heartbeatMs <= leaseMs / 2 ? heartbeatMs : leaseMs / 4;
}
