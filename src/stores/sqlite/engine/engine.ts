// Long because the order of its steps matters: what is performed, answered, synced and published when.
/**
 * The engine: receives the calls of all its clients, answers reads, and writes the other calls in groups.
 *
 *     message ──▶ queued ──drain──▶ reads answered ──▶ one group written ──▶ replies and events ──▶ drain …
 *                                                                └──not synced yet──▶ held (held-answers.ts)
 *
 * Calls that arrive while a group is written form the next group. Maintenance waits until no other call wants to write.
 * While another process holds the write lock, the group waits and reads continue. When that takes too long, the callers
 * get an error that names the process (lock-timeout.ts).
 */
import type { MessagePort } from 'node:worker_threads';
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import { mayBeClaimed } from '../../../core/ports/job-store.ts';
import { HeldAnswers } from '../held-answers.ts';
import { runModule } from '../run-module.ts';
import { WaitingClaims } from '../waiting-claims.ts';
import type { Call, EngineClient } from './engine-clients.ts';
import { EngineClients } from './engine-clients.ts';
import type { FileHealth } from './file-health.ts';
import { lockedError } from './file-holders.ts';
import type { CallResult, Group, GroupWriter } from './group-writer.ts';
import { mayAnswerEarly } from './group-writer.ts';
import { LockTimeout } from './lock-timeout.ts';
import type { Request, ToEngine } from './messages.ts';
import { isRead } from './messages.ts';
import { unpackRequest } from './packing.ts';
import type { Session } from './session.ts';
import { isBusy, readTwice, unknownOutcome } from './sqlite-problem.ts';

/** Under constant writes, maintenance joins a group after this time. */
const MAX_DEFER_MS = 25;
/** The engine is idle when no call arrived for this long. */
const IDLE_MS = 5;

export interface EngineParts {
  readonly session: Session;
  readonly writer: GroupWriter;
  readonly health: FileHealth;
  /** Wakes the other engines after a write. */
  readonly wake: () => void;
  /** Called when all calls are answered and no more are accepted. */
  readonly onClosed: () => void;
}

export class Engine {
  readonly #parts: EngineParts;
  readonly #clients = new EngineClients();
  readonly #waiting = new WaitingClaims({
    answer: (call, result) => this.#clients.answer(call, result),
    schedule: () => this.#schedule(),
  });
  /** Events of other engines that concern waiting claims: they are emitted when those were performed. */
  #heard: StoreEvent[] = [];
  readonly #held = new HeldAnswers({
    sync: () => this.#sync(() => this.#parts.session.sync.now()),
    hasCalls: () => this.#isScheduled && this.#pauseMs === 0,
    answer: (call, result) => this.#clients.answer(call, result),
    publish: (events) => this.#publish(events),
    reply: () => this.#clients.reply(),
  });
  #reads: Call[] = [];
  #writes: Call[] = [];
  #maintenance: Call[] = [];
  #maintenanceDueAt = 0;
  #pauseMs = 0;
  #isScheduled = false;
  #isClosing = false;
  readonly #lockTimeout = new LockTimeout();
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  join(port: MessagePort): void {
    const left = (client: EngineClient) => this.#waiting.forget(client);
    this.#clients.join(port, (client, message) => this.#receive(client, message), left);
  }

  get hasListeners(): boolean {
    return this.#clients.hasListeners || !this.#waiting.isEmpty;
  }

  /** Starts a read transaction, which collects the events of other engines. */
  readOthers(): void {
    const { session, health } = this.#parts;
    if (health.broken !== undefined) return;
    try {
      // The wake file also wakes the engine that touched it.
      if (session.others.haveWritten()) session.read(() => undefined);
    } catch (error) {
      health.failed(error);
    }
  }

  /** Takes the events of other engines, while a transaction is open. */
  hear(events: readonly StoreEvent[]): void {
    if (!this.#waiting.mark(events)) return this.emit(events);
    this.#heard.push(...events);
    this.#schedule();
  }

  /** Performs waiting claims that became due while the events of other engines were read. */
  serveWaiting(): void {
    if (this.#waiting.areDue && this.#pauseMs === 0) this.#drain();
  }

  /** Sends events to the clients of this engine that listen. */
  emit(events: readonly StoreEvent[]): void {
    this.#clients.emit(events);
  }

  #receive(client: EngineClient, message: ToEngine): void {
    switch (message.kind) {
      case 'requests':
        for (const packed of message.requests) this.#queue({ client, request: unpackRequest(packed) });
        break;
      case 'withdraw':
        this.#withdraw(client, message.id);
        break;
      case 'listen':
        // What other engines did before is not for a new listener.
        if (client.scope === null) this.readOthers();
        client.scope = message.scope;
        return;
      case 'acknowledge':
        client.unacknowledged -= message.messages;
        return;
      case 'run':
        void runModule(message, (port) => this.join(port));
        return;
      case 'close':
        this.#isClosing = true;
        break;
    }
    this.#schedule();
  }

  #withdraw(client: EngineClient, id: number): void {
    if (this.#waiting.withdraw(client, id)) return;
    this.#writes = this.#writes.map((call) => (call.client === client && call.request.id === id ? atOnce(call) : call));
  }

  #queue(call: Call): void {
    const { name } = call.request;
    if (isRead(name)) this.#reads.push(call);
    else if (name === 'maintain') this.#defer(call);
    else this.#writes.push(call);
  }

  #defer(call: Call): void {
    if (this.#maintenance.length === 0) this.#maintenanceDueAt = performance.now() + MAX_DEFER_MS;
    this.#maintenance.push(call);
  }

  /**
   * Maintenance delays other calls: in a group of its own, those that arrive meanwhile; in a shared group, all calls of
   * the group. So it is admitted when no call waits, or when it is due.
   */
  #admitMaintenance(): void {
    if (this.#maintenance.length === 0) return;
    if (this.#writes.length > 0 && performance.now() < this.#maintenanceDueAt) return;
    this.#writes.push(...this.#maintenance);
    this.#maintenance = [];
  }

  #schedule(delayMs = 0): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (delayMs === 0) setImmediate(() => this.#drain());
    else setTimeout(() => this.#drain(), delayMs);
  }

  #drain(): void {
    this.#isScheduled = false;
    this.#answerReads();
    this.#admitMaintenance();
    if (this.#writes.length > 0 || this.#waiting.areDue) this.#writeGroup();
    this.#clients.reply();
    this.#held.syncSoon();
    if (this.#writes.length + this.#maintenance.length > 0 || this.#waiting.areDue) this.#schedule(this.#pauseMs);
    else if (this.#isClosing) this.#end();
    else if (this.#parts.session.hasLongLog) this.#aggregateWhenIdle();
  }

  /** Otherwise a call would have to, which takes milliseconds. */
  #aggregateWhenIdle(): void {
    const aggregate = () => !this.#isScheduled && this.#parts.writer.aggregateStatistics();
    this.#idleTimer = this.#idleTimer?.refresh() ?? setTimeout(aggregate, IDLE_MS);
  }

  #answerReads(): void {
    const calls = this.#reads;
    if (calls.length === 0) return;
    this.#reads = [];
    // A read must not return what a power cut undoes.
    this.#held.release();
    const { broken } = this.#parts.health;
    if (broken !== undefined) return this.#refuse(calls, broken);
    try {
      if (calls.some(({ request }) => request.sync === 'first')) this.#parts.session.sync.now();
      const results = readTwice(() => this.#parts.session.read(() => calls.map((call) => this.#read(call))));
      const error = this.#sync(() => this.#parts.session.sync.syncOthers());
      for (const [place, result] of results.entries())
        this.#clients.answer(calls[place] as Call, error === undefined ? this.#explained(result) : { error });
    } catch (error) {
      // The whole read transaction failed.
      this.#refuse(calls, this.#parts.health.explain(error));
    }
  }

  #read({ request }: Call): CallResult {
    const { session } = this.#parts;
    try {
      return { answer: readTwice(() => session.perform(request, session.readMoment(request))) };
    } catch (error) {
      return { error };
    }
  }

  #explained(result: CallResult): CallResult {
    return 'error' in result ? { error: this.#parts.health.explain(result.error) } : result;
  }

  #writeGroup(): void {
    const calls = this.#writes;
    try {
      // Not by `map`: docs/decisions/0035-what-v8-compiles.md.
      const requests: Request[] = [];
      for (const { request } of calls) requests.push(request);
      const group = this.#parts.writer.write(requests, this.#waiting);
      this.#writes = calls.slice(group.results.length);
      this.#goOn();
      this.#answer(calls, group);
    } catch (error) {
      if (!isBusy(error)) throw error;
      this.#publish([]);
      this.#wait();
    }
  }

  /** Answers a group. Before its fsync, only the claims that allow it, and waiting claims: all of them do. */
  #answer(calls: readonly Call[], { results, tried, events, isPending }: Group): void {
    // A group that changed nothing was not synced, and may have seen what is pending.
    const error = isPending ? undefined : this.#held.release();
    const known = (result: CallResult) => (error === undefined || 'error' in result ? result : { error });
    this.#waiting.settle(tried.map(({ held, result }) => ({ held, result: known(result) })));
    for (let place = 0; place < results.length; place += 1) {
      const result = results[place] as CallResult;
      const call = calls[place] as Call;
      if (isPending && !mayAnswerEarly(call.request)) this.#held.hold(call, result);
      else if (!this.#waiting.hold(call, known(result), events)) this.#clients.answer(call, known(result));
    }
    const isWork = events.some(mayBeClaimed);
    // Another engine takes longest to get work; a claim that got a job is waited for here.
    if (isWork) this.#wakeOthers(events);
    this.#clients.reply();
    if (!isWork) this.#wakeOthers(events);
    if (this.#held.isEmpty) return this.#publish(events);
    this.#held.holdEvents(events);
    this.#publish([]);
  }

  #wakeOthers(events: readonly StoreEvent[]): void {
    if (events.length > 0 && this.#parts.session.others.exist) this.#parts.wake();
  }

  /** Returns the error for the calls that waited for it. */
  #sync(sync: () => void): Error | undefined {
    const { session, health } = this.#parts;
    try {
      if (health.broken === undefined) sync();
    } catch (error) {
      health.failed(error);
    }
    return health.broken && unknownOutcome(health.broken.cause, session.path);
  }

  /** The callers wait, so they come before the listeners. */
  #publish(events: readonly StoreEvent[]): void {
    this.#clients.reply();
    const heard = this.#heard;
    this.#heard = [];
    if (heard.length > 0) this.emit(heard.concat(events));
    else if (events.length > 0) this.emit(events);
  }

  #wait(): void {
    const { path, others } = this.#parts.session;
    others.recordLocked();
    const next = this.#lockTimeout.onBusy(performance.now(), others.progress);
    if ('pauseMs' in next) {
      this.#pauseMs = next.pauseMs;
      return;
    }
    this.#refuse(this.#writes, lockedError(path, others.pids, next.lockedMs));
    this.#writes = [];
    this.#goOn();
  }

  #goOn(): void {
    this.#lockTimeout.reset();
    this.#pauseMs = 0;
  }

  #refuse(calls: readonly Call[], error: unknown): void {
    for (const call of calls) this.#clients.answer(call, { error });
  }

  #end(): void {
    clearTimeout(this.#idleTimer);
    this.#held.release();
    this.#clients.reply();
    this.#waiting.forget();
    this.#parts.onClosed();
    this.#clients.close();
  }
}

/** The same call without a wait. */
function atOnce({ client, request }: Call): Call {
  return { client, request: { ...request, waitMs: undefined } };
}
