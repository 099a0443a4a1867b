/**
 * Claims that wait for a job at the server (client/blocking-connection.ts).
 *
 *     claim ─▶ no job ─▶ wait behind a pop ─▶ claim ─▶ no job ─▶ wait …        until its time is over or its signal aborts
 *
 * The scripts of an add set the marker that the pop waits for. After any other event of its queues, the wait is ended by
 * CLIENT UNBLOCK, so that the claim is performed. Only one claim pops the marker of an add: the others end their wait by the
 * event, if they still wait a moment later.
 *
 * Invariant: a claim waits only if every event that this client received since a claim without jobs was sent is older than
 * that claim. A claim that precedes the wait is left out if the last call of this worker was one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ClaimRequest,
  ClaimResult,
  ClaimWait,
  EventListener,
  StoreEvent,
  Unsubscribe,
} from '../../../core/ports/job-store.ts';
import { mayBeClaimed } from '../../../core/ports/job-store.ts';
import { BlockingConnection } from '../client/blocking-connection.ts';
import type { Events } from '../client/events.ts';
import type { RedisSettings } from '../client/options.ts';
import type { PrimaryConnection } from '../client/primary-connection.ts';
import { isForbidden, isNoScript } from '../client/problem.ts';
import { keyPrefix } from '../client/redis-client.ts';
import { claim } from './claim.ts';
import { clockArgument } from './script-runner.ts';
import type { ScriptSteps, SendScript } from './script-steps.ts';
import { scriptOf } from './scripts.ts';

interface Parts {
  readonly connection: PrimaryConnection;
  readonly settings: RedisSettings;
  readonly events: Events;
  readonly steps: ScriptSteps;
  /** Sends a script on the ordinary connection. */
  readonly send: SendScript;
  readonly claimNow: (request: ClaimRequest) => Promise<ClaimResult>;
}

/** Claims of one store that wait at the same time, each on a connection of its own. Others are answered at once. */
const MAX_WAITING = 4;
/** How long a claim still waits for the marker after the event of an add. */
const MARKER_MS = 1;
/** How long a claim waits for its connection to open. Else it is answered, and the connection is for a later one. */
const OPEN_MS = 100;
/** The delay before another try to open a connection. */
const REOPEN_MS = 1_000;
/** Workers whose last claim is remembered. */
const MAX_WORKERS = 1_000;
/** Jobs of waiting claims whose event has not come yet. */
const MAX_AHEAD = 1_000;

/** A claim without jobs: the count of events when it was sent, and when a job becomes due. */
interface EmptyClaim {
  readonly events: number;
  readonly dueAt: number;
}

/** A claim that waits now. */
interface Wait {
  readonly queues: readonly string[];
  readonly connection: BlockingConnection;
  /** The count of events that the claim takes into account. */
  events: number;
  /** An end of the wait that is under way. */
  ending: Promise<void> | null;
  /** The event of an add has come, and the marker has a moment left. */
  isMarkerDue: boolean;
}

export class WaitingClaims {
  readonly #parts: Parts;
  readonly #prefix: string;
  /** Connections on which no claim waits. */
  #idle: BlockingConnection[] = [];
  readonly #waits = new Set<Wait>();
  #opening = 0;
  #openAgainAt = 0;
  #isRefused = false;
  #isStopped = false;
  #unsubscribe: Unsubscribe | null = null;
  /** How many events there were for each queue of a claim, and how many gaps. */
  readonly #counts = new Map<string, number>();
  #gaps = 0;
  readonly #emptyClaims = new Map<string, EmptyClaim>();
  /** Jobs that were claimed here before the event of their add has come: it is no reason to claim. */
  readonly #ahead = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#prefix = keyPrefix(parts.settings);
  }

  async claim(request: ClaimRequest, { ms, signal }: ClaimWait): Promise<ClaimResult> {
    const endAt = performance.now() + ms;
    this.#unsubscribe ??= this.#parts.events.subscribe(this.#onEvents, 'work');
    let result: ClaimResult | null = null;
    const leftMs = (): number => (signal.aborted || this.#isStopped ? 0 : endAt - performance.now());
    const canWait = (): boolean => leftMs() >= 1 && this.#isQuiet(request);
    while (result === null || (result.jobs.length === 0 && leftMs() >= 1)) {
      if (canWait() && !(await this.#hasConnection(leftMs()))) return result ?? (await this.#claimNow(request));
      // There may have been events, or another claim, while a connection was opened.
      const connection = canWait() ? this.#takeConnection() : null;
      const wait = { ms: leftMs(), signal };
      result = await (connection === null ? this.#claimNow(request) : this.#claimLater(connection, request, wait));
    }
    return result;
  }

  /** Remembers whether a claim that was just sent gets no job. */
  note(request: ClaimRequest, claimed: Promise<ClaimResult>): void {
    if (this.#unsubscribe === null) return;
    const events = this.#countOf(request.queues);
    claimed.then(
      (result) => this.#remember(request, result, events),
      () => undefined,
    );
  }

  /** Ends all waits; further claims are answered at once. */
  stop(): void {
    this.#isStopped = true;
    for (const wait of this.#waits) this.#end(wait);
  }

  close(): void {
    this.#unsubscribe?.();
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  #claimNow(request: ClaimRequest): Promise<ClaimResult> {
    const claimed = this.#parts.claimNow(request);
    this.note(request, claimed);
    return claimed;
  }

  /** Waits on a connection, then claims. */
  async #claimLater(connection: BlockingConnection, request: ClaimRequest, wait: ClaimWait): Promise<ClaimResult> {
    const { queues } = request;
    const waiting: Wait = { queues, connection, events: this.#countOf(queues), ending: null, isMarkerDue: false };
    const end = (): void => this.#end(waiting);
    this.#waits.add(waiting);
    wait.signal.addEventListener('abort', end);
    const dueAt = this.#emptyClaims.get(keyOf(request))?.dueAt ?? Number.POSITIVE_INFINITY;
    const ms = Math.max(1, Math.min(wait.ms, dueAt - performance.now()));
    try {
      const result = await claim(this.#parts.steps.over(this.#sendBehindPop(waiting, ms)), request);
      if (result.jobs.length === 0) await waiting.ending;
      if (this.#ahead.size >= MAX_AHEAD) this.#ahead.clear();
      for (const { id, attempt } of result.jobs) if (attempt === 1) this.#ahead.add(id);
      this.#remember(request, result, waiting.events);
      return result;
    } finally {
      wait.signal.removeEventListener('abort', end);
      this.#waits.delete(waiting);
      this.#return(connection);
    }
  }

  /** Returns how the scripts of a waiting claim are sent: the first behind a pop, and others, if it declines, without. */
  #sendBehindPop({ queues, connection }: Wait, ms: number): SendScript {
    const { send, settings, connection: primary } = this.#parts;
    const markers = queues.map((queue) => `${this.#prefix}marker:${queue}`);
    let isSent = false;
    return async (name, args, now) => {
      if (isSent) return await send(name, args, now);
      isSent = true;
      const command = ['EVALSHA', scriptOf(name).sha, '1', this.#prefix, clockArgument(settings.clock, now), ...args];
      try {
        return await connection.claim({ markers, ms, command });
      } catch (error) {
        if (isNoScript(error)) return await send(name, args, now);
        throw primary.problem(error, 'change');
      }
    };
  }

  /** The claim that is performed because of this takes all events until now into account. */
  #end(wait: Wait): void {
    const events = this.#countOf(wait.queues);
    wait.ending ??= wait.connection.end().then((isEnded) => {
      if (isEnded) wait.events = events;
    });
  }

  // ── events ──

  readonly #onEvents: EventListener = (events) => {
    for (const event of events) {
      if (event.type === 'added' && this.#ahead.delete(event.id)) continue;
      // An add of this client on its way sets the marker when it arrives.
      if (event.type === 'adding') continue;
      if (event.type === 'gap') this.#gaps += 1;
      else if (!mayBeClaimed(event) || !this.#counts.has(event.queue)) continue;
      else this.#counts.set(event.queue, (this.#counts.get(event.queue) ?? 0) + 1);
      for (const wait of this.#waits)
        if (event.type === 'gap' || wait.queues.includes(event.queue)) this.#wake(wait, event);
    }
  };

  #wake(wait: Wait, { type }: StoreEvent): void {
    if (type !== 'added') return this.#end(wait);
    if (wait.isMarkerDue) return;
    wait.isMarkerDue = true;
    setTimeout(() => this.#waits.has(wait) && this.#end(wait), MARKER_MS);
  }

  #countOf(queues: readonly string[]): number {
    let count = this.#gaps;
    for (const queue of queues) {
      const own = this.#counts.get(queue);
      if (own === undefined) this.#counts.set(queue, 0);
      else count += own;
    }
    return count;
  }

  #remember(request: ClaimRequest, { jobs, now, nextAt }: ClaimResult, events: number): void {
    const key = keyOf(request);
    if (jobs.length > 0) return void this.#emptyClaims.delete(key);
    if (this.#emptyClaims.size >= MAX_WORKERS) this.#emptyClaims.clear();
    const dueAt = nextAt === null || nextAt <= now ? Number.POSITIVE_INFINITY : performance.now() + nextAt - now;
    this.#emptyClaims.set(key, { events, dueAt });
  }

  /** Whether the last claim of the worker got no job, and there was no reason for another since. */
  #isQuiet(request: ClaimRequest): boolean {
    const last = this.#emptyClaims.get(keyOf(request));
    return last !== undefined && last.events === this.#countOf(request.queues) && last.dueAt > performance.now();
  }

  // ── connections ──

  /** Returns whether a claim can wait on a connection; opens one if there is none. */
  async #hasConnection(leftMs: number): Promise<boolean> {
    this.#dropStale();
    if (this.#idle.length === 0) await Promise.race([this.#open(), sleep(Math.min(leftMs, OPEN_MS))]);
    return this.#idle.length > 0;
  }

  #takeConnection(): BlockingConnection | null {
    this.#dropStale();
    return this.#idle.pop() ?? null;
  }

  /** Keeps the connections to the present primary. */
  #dropStale(): void {
    const current = this.#parts.connection.current();
    for (const connection of this.#idle.splice(0)) {
      if (connection.beside === current && !connection.isLost) this.#idle.push(connection);
      else connection.destroy();
    }
  }

  #return(connection: BlockingConnection): void {
    this.#isRefused ||= connection.isRefused;
    if (connection.isLost || this.#isRefused || this.#isStopped) connection.destroy();
    else this.#idle.push(connection);
  }

  async #open(): Promise<void> {
    const isFull = this.#waits.size + this.#opening >= MAX_WAITING;
    if (this.#isRefused || isFull || performance.now() < this.#openAgainAt) return;
    const { connection: primary, settings } = this.#parts;
    this.#opening += 1;
    try {
      const current = primary.current();
      const client = await primary.openBeside(current);
      const opening = BlockingConnection.open(client, current, settings.commandTimeoutMs);
      this.#return(await opening.catch((error: unknown) => this.#openFailed(error)));
    } catch {
      this.#openAgainAt = performance.now() + REOPEN_MS;
    }
    this.#opening -= 1;
  }

  #openFailed(error: unknown): never {
    this.#isRefused ||= isForbidden(error);
    throw error;
  }
}

/** Claims with other resources can get other jobs. */
const keyOf = ({ worker, queues, offers }: ClaimRequest): string => [worker, offers?.free ?? '', ...queues].join(' ');
