// Long because it connects the parts of the worker, each in a few lines, and shows the whole life of a worker.
/**
 * The implementation of a worker: connects the claim loop, the attempts, the settlement batcher and the lease renewer.
 *
 *     created ──start──▶ working ──stop──▶ draining ──time is over, or forced──▶ stopping ──▶ stopped
 *
 * Settlements and the claim for the slots they free are sent in one turn of the event loop, the settlements first. At
 * concurrency 1 a job therefore costs one round trip. With many slots, two such calls are in flight.
 */
import type { ClaimResult } from '../../core/ports/job-store.ts';
import { AbandonedAttempts } from '../attempt/abandoned-attempts.ts';
import type { AttemptPipeline } from '../attempt/run-attempt.ts';
import { releaseClaimed, runAdopted, runClaimed } from '../attempt/run-attempt.ts';
import { RunningAttempts } from '../attempt/running-attempts.ts';
import { ExpiryWatch } from '../lease/expiry-watch.ts';
import type { LeaseRenewer, LeaseRenewerPlan } from '../lease/lease-renewer.ts';
import { leaseRenewerPlan } from '../lease/lease-renewer-plan.ts';
import { LeaseTable } from '../lease/lease-table.ts';
import { openLocalLeaseRenewer } from '../lease/local-lease-renewer.ts';
import { renewerListener } from '../lease/renewer-events.ts';
import { openThreadLeaseRenewer } from '../lease/thread-lease-renewer.ts';
import { atMost, CALL_DEADLINE_MS, every, monotonicMs, withDeadline } from '../outcome/deadline.ts';
import type { Journal } from '../outcome/outcome-journal.ts';
import { openJournal } from '../outcome/outcome-journal.ts';
import { SettlementBatcher } from '../outcome/settlement-batcher.ts';
import { ClaimLoop } from './claim-loop.ts';
import { MIN_WAITING_LEASE_MS } from './claim-wait.ts';
import { codeOf, StoreAvailability } from './store-availability.ts';
import { watchEvents } from './store-events.ts';
import { whenAvailable } from './when-available.ts';
import type { RunningAttempt, StopOptions, Worker, WorkerOptions } from './worker.ts';
import type { WorkerEvent } from './worker-event.ts';

/** How long attempts may continue after `stop`, unless an option sets it. */
const DRAIN_MS = 30_000;
/** How long `stop` waits for the store's last answers. Unanswered settlements stay in the journal. */
const STOP_DEADLINE_MS = 5_000;
const FORCED_DEADLINE_MS = 1_000;
/** How many abandoned handlers make the worker drain, unless an option sets it. */
const MAX_ABANDONED = 10;
/** How often the main thread shows the lease renewer that its event loop turns. */
const TURN_MS = 400;
/** Entries of the lease table for each slot: one runs, others wait for the answer to their settlement (MAX_CALLS). */
const ENTRIES_PER_SLOT = 8;
/** How often the worker searches for journals of processes that have ended. */
const ADOPT_EVERY_MS = 60_000;

export class QueueWorker implements Worker {
  readonly #options: WorkerOptions;
  readonly #table: LeaseTable;
  readonly #attempts = new RunningAttempts();
  readonly #abandoned: AbandonedAttempts;
  readonly #pipeline: AttemptPipeline;
  readonly #availability: StoreAvailability;
  readonly #journal: Journal | null;
  readonly #batcher: SettlementBatcher;
  readonly #claims: ClaimLoop;
  readonly #forced = new AbortController();
  /** Ends the wait for the store at the start. */
  readonly #waiting = new AbortController();
  #id: string;
  #concurrency: number;
  #renewer: LeaseRenewer | null = null;
  #started: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;
  #isScheduled = false;
  #undo: (() => void)[] = [];

  constructor(options: WorkerOptions) {
    const { store, concurrency, maxConcurrency = 0, journalPath, pid, random } = options;
    this.#options = options;
    this.#concurrency = concurrency;
    this.#id = options.newId();
    this.#table = new LeaseTable(Math.max(ENTRIES_PER_SLOT * concurrency, maxConcurrency) + (options.own ?? []).length);
    this.#availability = new StoreAvailability({
      onUnavailable: (error) => this.#emit({ type: 'store-away', error }),
      onBack: () => this.#storeIsBack(),
    });
    this.#journal =
      journalPath === undefined || journalPath === null
        ? null
        : openJournal({
            path: journalPath,
            pid,
            worker: this.#id,
            onSetAside: (path, settlements) => this.#emit({ type: 'journal-set-aside', path, settlements }),
          });
    this.#batcher = new SettlementBatcher({
      jobs: store.jobs,
      availability: this.#availability,
      journal: this.#journal,
      random,
      onTrouble: (what, error) => this.#emit({ type: 'trouble', what, error }),
    });
    this.#abandoned = new AbandonedAttempts({
      max: options.maxAbandoned ?? MAX_ABANDONED,
      slots: () => this.#concurrency,
      isStopped: () => this.#stopped !== null,
      emit: this.#emit,
      onChange: () => this.#abandonedChanged(),
    });
    this.#pipeline = this.#createPipeline();
    this.#claims = this.#createClaimLoop();
    options.pool?.join(this, options.settingsFor);
  }

  get id(): string {
    return this.#id;
  }

  start(): Promise<void> {
    this.#started ??= this.#begin();
    return this.#started;
  }

  stop({ drainMs, force, leaveMs }: StopOptions = {}): Promise<void> {
    if (force === true) this.#forced.abort();
    this.#waiting.abort();
    this.#stopped ??=
      leaveMs === undefined ? this.#end(drainMs ?? this.#options.drainMs ?? DRAIN_MS) : this.#leaveAttempts(leaveMs);
    return this.#stopped;
  }

  pause(): void {
    this.#claims.pause();
  }

  resume(): void {
    this.#claims.resume();
  }

  resize(concurrency: number): void {
    this.#concurrency = Math.min(concurrency, this.#options.maxConcurrency ?? this.#options.concurrency);
    if (this.#abandoned.size > 0) this.#abandoned.review();
    this.#claims.wakeNow();
    this.#schedule();
  }

  wake(): void {
    this.#claims.wakeNow();
  }

  running(): readonly RunningAttempt[] {
    const running = this.#attempts.all().map(({ job, stopReason }) => ({ job, stopReason, isAbandoned: false }));
    const abandoned = this.#abandoned.all().map(({ job, stopReason }) => ({ job, stopReason, isAbandoned: true }));
    return [...running, ...abandoned];
  }

  #createPipeline(): AttemptPipeline {
    const { run, enforcesStop = false, settingsFor, random } = this.#options;
    return {
      table: this.#table,
      attempts: this.#attempts,
      abandoned: this.#abandoned,
      batcher: this.#batcher,
      run,
      enforcesStop,
      settingsFor,
      random,
      sendHeartbeat: (update) => this.#renewer?.send(update),
      emit: this.#emit,
      onFree: () => {
        this.#claims.wake();
        this.#schedule();
      },
      sendNow: this.#send,
    };
  }

  #createClaimLoop(): ClaimLoop {
    const { store, queues, leaseMs, endsWithProcess = false, newId, random } = this.#options;
    return new ClaimLoop({
      jobs: store.jobs,
      queues,
      endsWithProcess,
      availability: this.#availability,
      newId,
      random,
      ...(leaseMs !== undefined && { leaseMs }),
      room: () => this.#room(),
      concurrency: () => this.#concurrency,
      // The free capacity of a pool is lent to one claim at a time.
      maxRequests: this.#options.pool === undefined ? 2 : 1,
      offers: () => this.#options.pool?.lend(this),
      mayWait: () => this.#mayWait(),
      workerId: () => this.#id,
      schedule: this.#schedule,
      onSent: () => this.#table.countClaim(),
      onClaimed: this.#claimed,
      onTrouble: (error) => this.#emit({ type: 'trouble', what: 'a claim failed', error }),
    });
  }

  #room(): number {
    if (this.#abandoned.isDraining) return 0;
    return Math.min(this.#concurrency - this.#attempts.size - this.#abandoned.size, this.#table.room);
  }

  /** Lent capacity must not wait, and short leases would look expired (claim-wait.ts). */
  #mayWait(): boolean {
    const { pool, queues, leaseMs, settingsFor } = this.#options;
    const isShort = (queue: string): boolean => (leaseMs ?? settingsFor(queue).leaseMs) < MIN_WAITING_LEASE_MS;
    return pool === undefined && !queues.some(isShort);
  }

  /** Shows the number in the registration, and claims for a slot that became free. */
  #abandonedChanged(): void {
    const own = JSON.parse(this.#options.info ?? '{}') as Record<string, unknown>;
    this.#renewer?.show(JSON.stringify({ ...own, ...this.#abandoned.info() }));
    this.#pipeline.onFree();
  }

  /** Sends after all microtasks of the current event, so that attempts that end together are settled together. */
  readonly #schedule = (): void => {
    if (this.#isScheduled || this.#renewer === null) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      this.#send();
    });
  };

  /**
   * Settlements before claims: a store may take both in one call. They are sent with the next claim, which may have to
   * wait for the answer to the one in flight. That halves the calls, and no claim waits. Returns whether a claim was sent.
   */
  readonly #send = (): boolean => {
    if (this.#claims.mustWait) return false;
    this.#batcher.flush();
    return this.#claims.flush();
  };

  readonly #claimed = (result: ClaimResult, sentAt: number): void => {
    if (this.#stopped === null) runClaimed(result, sentAt, this.#pipeline);
    else releaseClaimed(result, 'its worker stopped before it began', this.#pipeline);
    this.#options.pool?.giveBack(this);
  };

  /** An error of a listener is raised outside the worker, which continues. */
  readonly #emit = (event: WorkerEvent): void => {
    try {
      this.#options.onEvent?.(event);
    } catch (error) {
      setImmediate(() => {
        throw error;
      });
    }
  };

  async #begin(): Promise<void> {
    const { store, queues, onUnreachable, waitsForStore, random } = this.#options;
    const wait = { availability: this.#availability, random, signal: this.#waiting.signal };
    this.#renewer = await (waitsForStore === true ? whenAvailable(() => this.#open(), wait) : this.#open());
    if (this.#stopped !== null) return;
    this.#undo = [
      watchEvents(store.jobs, { queues, attempts: this.#attempts, claims: this.#claims }),
      every(TURN_MS, () => this.#table.countTurn()),
      every(ADOPT_EVERY_MS, () => this.#adopt()),
    ];
    if ((onUnreachable ?? (store.isShared ? 'stop' : 'continue')) === 'stop') this.#undo.push(this.#watchExpiry());
    this.#adopt();
    runAdopted(this.#options.own ?? [], this.#pipeline);
    this.#claims.wake();
  }

  /** Makes the calls that the store must answer before the first claim. */
  async #open(): Promise<LeaseRenewer> {
    const { store, prepare } = this.#options;
    if (prepare !== undefined) await withDeadline(prepare(), CALL_DEADLINE_MS);
    await this.#identifyStore();
    const plan = this.#plan();
    const listener = renewerListener({
      table: this.#table,
      attempts: this.#attempts,
      availability: this.#availability,
      emit: this.#emit,
      restart: () => this.#restart(),
    });
    return (await openThreadLeaseRenewer(store, plan, listener)) ?? openLocalLeaseRenewer(store.jobs, plan, listener);
  }

  #plan(): LeaseRenewerPlan {
    return leaseRenewerPlan(this.#options, { id: this.#id, memory: this.#table.memory });
  }

  /** Returns a function that ends the watch. */
  #watchExpiry(): () => void {
    const { tickMs } = this.#plan();
    const watch = new ExpiryWatch({ table: this.#table, attempts: this.#attempts, tickMs });
    return every(tickMs, () => watch.check(monotonicMs()));
  }

  /** A role that may not read the identity leaves it unknown; every journal of the path then counts as this store's. */
  async #identifyStore(): Promise<void> {
    const { storeIdentity } = this.#options;
    if (this.#journal === null || storeIdentity === undefined) return;
    try {
      this.#journal.belongTo(await withDeadline(storeIdentity(), CALL_DEADLINE_MS));
    } catch (error) {
      if (codeOf(error) !== 'refused') throw error;
    }
  }

  #storeIsBack(): void {
    this.#emit({ type: 'store-back' });
    this.#batcher.repeatNow();
    this.#claims.wakeNow();
  }

  /**
   * Continues under another id after an operator failed this worker. The leases it held then are lost, and the store
   * reports each; the leases it claimed since, before it knew, are valid.
   */
  #restart(): void {
    for (const attempt of this.#attempts.all()) void attempt.checkLease();
    if (this.#stopped !== null) return;
    const from = this.#id;
    this.#id = this.#options.newId();
    this.#renewer?.rename(this.#id);
    this.#emit({ type: 'restarted', from, to: this.#id });
    this.#claims.forget();
  }

  #adopt(): void {
    const trouble = (error: unknown) => this.#emit({ type: 'trouble', what: 'the journal could not be read', error });
    this.#journal?.adopt().then((found) => {
      if (found.length === 0) return;
      this.#emit({ type: 'journal-found', settlements: found.length });
      this.#batcher.adopt(found, (settled) => this.#emit({ type: 'delivered', ...settled }));
    }, trouble);
  }

  async #end(drainMs: number): Promise<void> {
    const claims = this.#claims.stop();
    await this.#started?.catch(() => undefined);
    await this.#drain(drainMs);
    await this.#finish(claims);
  }

  /** The lease renewer is closed first: a later renewal would shorten the leases again. */
  async #leaveAttempts(leaveMs: number): Promise<void> {
    const claims = this.#claims.stop();
    await this.#started?.catch(() => undefined);
    await this.#finish(claims, async () => {
      const heartbeats = this.#attempts
        .leaveAll()
        .map(({ job }) => ({ id: job.id, token: job.lease.token, leaseMs: leaveMs }));
      if (heartbeats.length > 0) await atMost(this.#options.store.jobs.heartbeat(heartbeats), STOP_DEADLINE_MS);
    });
  }

  async #finish(claims: Promise<void>, extendLeases: () => Promise<void> = async () => undefined): Promise<void> {
    const deadlineMs = this.#forced.signal.aborted ? FORCED_DEADLINE_MS : STOP_DEADLINE_MS;
    await atMost(claims, deadlineMs);
    this.#claims.giveUp();
    await this.#batcher.drain(deadlineMs);
    for (const undo of this.#undo) undo();
    this.#options.pool?.leave(this);
    await this.#renewer?.close();
    await extendLeases();
    await this.#deregister();
    await this.#journal?.close();
  }

  /** Lets attempts continue until the time is over or a forced stop; then stops them, and abandons them after their grace. */
  async #drain(drainMs: number): Promise<void> {
    const empty = this.#attempts.whenEmpty();
    const forced = aborted(this.#forced.signal);
    await atMost(Promise.race([empty, forced]), drainMs);
    this.#attempts.stopAll('draining');
    await Promise.race([empty, forced]);
    this.#attempts.stopAll('draining', 0);
    await empty;
  }

  async #deregister(): Promise<void> {
    if (this.#renewer === null) return;
    const { jobs } = this.#options.store;
    await atMost(jobs.endWorker({ id: this.#id, kind: 'deregister' }), STOP_DEADLINE_MS);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
