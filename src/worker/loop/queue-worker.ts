// Long because it ties the parts of the worker together, each in a few lines, and its whole life belongs on one page.
/**
 * The worker at work: ties the claim loop, the attempts, the batcher and the renewer together.
 *
 *     created ──start──▶ working ──stop──▶ draining ──time is over, or forced──▶ stopping ──▶ stopped
 *
 * Settlements and the claim for the slots they free go out in one turn of the event loop, the settlements first, so
 * that at concurrency 1 a job costs one round trip. Nothing here decides what an end means (to-settlement.ts).
 */
import type { ClaimResult } from '../../core/ports/job-store.ts';
import { Attempts } from '../attempt/attempts.ts';
import { newsReader } from '../lease/lease-news.ts';
import type { LeaseRenewer } from '../lease/lease-renewer.ts';
import { leaseRenewerPlan } from '../lease/lease-renewer-plan.ts';
import { LeaseTable } from '../lease/lease-table.ts';
import { openLocalLeaseRenewer } from '../lease/local-lease-renewer.ts';
import { openThreadLeaseRenewer } from '../lease/thread-lease-renewer.ts';
import { atMost, CALL_DEADLINE_MS, every, withDeadline } from '../outcome/deadline.ts';
import type { Journal } from '../outcome/outcome-journal.ts';
import { openJournal } from '../outcome/outcome-journal.ts';
import { SettlementBatcher } from '../outcome/settlement-batcher.ts';
import { ClaimLoop, claimShare } from './claim-loop.ts';
import { codeOf, Reach } from './store-availability.ts';
import { watchEvents } from './store-events.ts';
import { whenAvailable } from './when-available.ts';
import type { RunningAttempt, StopOptions, Worker, WorkerOptions } from './worker.ts';
import type { WorkerEvent } from './worker-event.ts';

/** How long attempts may go on after `stop`, unless somebody says otherwise. */
const DRAIN_MS = 30_000;
/** How long a stop waits for what the store still has to answer. What is owed then stays in the journal. */
const STOP_DEADLINE_MS = 5_000;
const FORCED_DEADLINE_MS = 1_000;
/** How often the main loop shows the renewer that it comes round. */
const ROUND_MS = 400;
/** Leases on the table for each slot: one runs, others wait for the answer to their settlement. */
const BOARD_SHARE = 4;
/** How often this worker looks whether another process left a journal behind. */
const ADOPT_EVERY_MS = 60_000;

export class QueueWorker implements Worker {
  readonly #options: WorkerOptions;
  readonly #table: LeaseTable;
  readonly #attempts: Attempts;
  readonly #reach: Reach;
  readonly #journal: Journal | null;
  readonly #batcher: SettlementBatcher;
  readonly #claims: ClaimLoop;
  readonly #forced = new AbortController();
  /** The wait for the store at the start. */
  readonly #waiting = new AbortController();
  #id: string;
  #concurrency: number;
  #renewer: LeaseRenewer | null = null;
  #started: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;
  #isScheduled = false;
  #undo: (() => void)[] = [];

  constructor(options: WorkerOptions) {
    const { store, concurrency, mostConcurrency = 0, journalPath, pid, random } = options;
    this.#options = options;
    this.#concurrency = concurrency;
    this.#id = options.newId();
    this.#table = new LeaseTable(Math.max(BOARD_SHARE * concurrency, mostConcurrency) + (options.own ?? []).length);
    this.#reach = new Reach({
      onAway: (error) => this.#tell({ type: 'store-away', error }),
      onBack: () => this.#storeIsBack(),
    });
    this.#journal =
      journalPath === undefined || journalPath === null
        ? null
        : openJournal({
            path: journalPath,
            pid,
            worker: this.#id,
            onSetAside: (path, settlements) => this.#tell({ type: 'journal-set-aside', path, settlements }),
          });
    this.#batcher = new SettlementBatcher({
      jobs: store.jobs,
      reach: this.#reach,
      journal: this.#journal,
      random,
      onTrouble: (what, error) => this.#tell({ type: 'trouble', what, error }),
    });
    this.#attempts = this.#makeAttempts();
    this.#claims = this.#makeClaimLoop();
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
      leaveMs === undefined ? this.#end(drainMs ?? this.#options.drainMs ?? DRAIN_MS) : this.#goAway(leaveMs);
    return this.#stopped;
  }

  pause(): void {
    this.#claims.pause();
  }

  resume(): void {
    this.#claims.resume();
  }

  resize(concurrency: number): void {
    this.#concurrency = Math.min(concurrency, this.#options.mostConcurrency ?? this.#options.concurrency);
    this.#claims.wake();
    this.#schedule();
  }

  wake(): void {
    this.#claims.wakeNow();
  }

  running(): readonly RunningAttempt[] {
    return this.#attempts.all().map(({ job, stopReason }) => ({ job, stopReason }));
  }

  #makeAttempts(): Attempts {
    const { run, settingsFor, random } = this.#options;
    return new Attempts({
      table: this.#table,
      batcher: this.#batcher,
      run,
      settingsFor,
      random,
      say: (saying) => this.#renewer?.say(saying),
      tell: (event) => this.#tell(event),
      onFree: () => {
        this.#claims.wake();
        this.#schedule();
      },
      onHeld: () => {
        this.#send();
        return this.#claims.isClaiming;
      },
    });
  }

  #makeClaimLoop(): ClaimLoop {
    const { store, queues, leaseMs, newId, random } = this.#options;
    return new ClaimLoop({
      jobs: store.jobs,
      queues,
      reach: this.#reach,
      newId,
      random,
      ...(leaseMs !== undefined && { leaseMs }),
      room: () => Math.min(this.#concurrency - this.#attempts.size, this.#table.room, claimShare(this.#concurrency)),
      offers: () => this.#options.pool?.lend(this),
      workerId: () => this.#id,
      schedule: () => this.#schedule(),
      onSent: () => this.#table.countClaim(),
      onClaimed: (result, sentAt) => this.#claimed(result, sentAt),
      onTrouble: (error) => this.#tell({ type: 'trouble', what: 'a claim failed', error }),
    });
  }

  async #begin(): Promise<void> {
    const { store, queues, waitsForStore, random } = this.#options;
    const wait = { reach: this.#reach, random, signal: this.#waiting.signal };
    this.#renewer = await (waitsForStore === true ? whenAvailable(() => this.#open(), wait) : this.#open());
    if (this.#stopped !== null) return;
    this.#undo = [
      watchEvents(store.jobs, { queues, attempts: this.#attempts, claims: this.#claims }),
      every(ROUND_MS, () => this.#table.countRound()),
      every(ADOPT_EVERY_MS, () => this.#adopt()),
    ];
    this.#adopt();
    this.#attempts.takeUp(this.#options.own ?? []);
    this.#claims.wake();
  }

  /** Everything that the store must answer before the first claim. */
  async #open(): Promise<LeaseRenewer> {
    const { store, onUnreachable, prepare } = this.#options;
    if (prepare !== undefined) await withDeadline(prepare(), CALL_DEADLINE_MS);
    await this.#identifyStore();
    const plan = leaseRenewerPlan(this.#options, { id: this.#id, memory: this.#table.memory });
    const tell = newsReader({
      attempts: this.#attempts,
      reach: this.#reach,
      mustStop: (onUnreachable ?? (store.isShared ? 'stop' : 'continue')) === 'stop',
      tell: (event) => this.#tell(event),
      restart: () => this.#restart(),
    });
    return (await openThreadLeaseRenewer(store, plan, tell)) ?? openLocalLeaseRenewer(store.jobs, plan, tell);
  }

  /** A role that may not read the identity leaves it unknown: then every journal of the path is taken as its own. */
  async #identifyStore(): Promise<void> {
    const { storeIdentity } = this.#options;
    if (this.#journal === null || storeIdentity === undefined) return;
    try {
      this.#journal.belongTo(await withDeadline(storeIdentity(), CALL_DEADLINE_MS));
    } catch (error) {
      if (codeOf(error) !== 'refused') throw error;
    }
  }

  /** After everything that follows from the present event without waiting, so that what ends together travels together. */
  #schedule(): void {
    if (this.#isScheduled || this.#renewer === null) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  /**
   * Settlements before claims: a store may take both in one call. While a claim is under way they wait for its answer,
   * to go out with the next one: half as many calls, and no claim waits for anything.
   */
  #send(): void {
    if (this.#claims.isClaiming) return;
    this.#batcher.flush();
    this.#claims.flush();
  }

  #claimed(result: ClaimResult, sentAt: number): void {
    if (this.#stopped === null) this.#attempts.begin(result, sentAt);
    else this.#attempts.refuse(result, 'its worker stopped before it began');
    this.#options.pool?.giveBack(this);
  }

  #storeIsBack(): void {
    this.#tell({ type: 'store-back' });
    this.#batcher.repeatNow();
    this.#claims.wakeNow();
  }

  /**
   * Somebody failed this worker, and it goes on as another. What it held then is lost, and the store says so of each
   * lease; what it claimed since, before it knew, is rightly its own.
   */
  #restart(): void {
    for (const attempt of this.#attempts.all()) void attempt.heartbeatNow();
    if (this.#stopped !== null) return;
    const from = this.#id;
    this.#id = this.#options.newId();
    this.#renewer?.rename(this.#id);
    this.#tell({ type: 'restarted', from, to: this.#id });
    this.#claims.forget();
  }

  #adopt(): void {
    const trouble = (error: unknown) => this.#tell({ type: 'trouble', what: 'the journal could not be read', error });
    this.#journal?.adopt().then((found) => {
      if (found.length === 0) return;
      this.#tell({ type: 'journal-found', settlements: found.length });
      this.#batcher.inherit(found, (settlement, answer) => this.#tell({ type: 'delivered', settlement, answer }));
    }, trouble);
  }

  async #end(drainMs: number): Promise<void> {
    const claims = this.#claims.stop();
    await this.#started?.catch(() => undefined);
    await this.#drain(drainMs);
    await this.#finish(claims);
  }

  /** The renewals end first: one that came after ours would make the leases short again. */
  async #goAway(leaveMs: number): Promise<void> {
    const claims = this.#claims.stop();
    await this.#started?.catch(() => undefined);
    await this.#finish(claims, async () => {
      const beats = this.#attempts
        .forget()
        .map(({ job }) => ({ id: job.id, token: job.lease.token, leaseMs: leaveMs }));
      if (beats.length > 0) await atMost(this.#options.store.jobs.heartbeat(beats), STOP_DEADLINE_MS);
    });
  }

  async #finish(claims: Promise<void>, leave: () => Promise<void> = async () => undefined): Promise<void> {
    const deadlineMs = this.#forced.signal.aborted ? FORCED_DEADLINE_MS : STOP_DEADLINE_MS;
    await atMost(claims, deadlineMs);
    this.#claims.giveUp();
    await this.#batcher.drain(deadlineMs);
    for (const undo of this.#undo) undo();
    this.#options.pool?.leave(this);
    await this.#renewer?.close();
    await leave();
    await this.#leave();
    await this.#journal?.close();
  }

  /** Attempts go on until the time is over or somebody forces it; then they are told to stop, and given up after their grace. */
  async #drain(drainMs: number): Promise<void> {
    const empty = this.#attempts.whenEmpty();
    const forced = aborted(this.#forced.signal);
    await atMost(Promise.race([empty, forced]), drainMs);
    this.#attempts.stopAll('draining');
    await Promise.race([empty, forced]);
    this.#attempts.stopAll('draining', 0);
    await empty;
  }

  async #leave(): Promise<void> {
    if (this.#renewer === null) return;
    const { jobs } = this.#options.store;
    await atMost(jobs.endWorker({ id: this.#id, kind: 'deregister' }), STOP_DEADLINE_MS);
  }

  /** A listener that throws has a bug, which is shown as such; the worker it listens to has not. */
  #tell(event: WorkerEvent): void {
    try {
      this.#options.onEvent?.(event);
    } catch (error) {
      setImmediate(() => {
        throw error;
      });
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
