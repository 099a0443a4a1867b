/**
 * The client of an engine: sends calls in batches and matches replies by number.
 *
 * All calls of one turn of the event loop are sent in one message, so a settlement and the claim that follows it share a
 * commit. An exception is an add for which a claim waits in the engine: it is sent at once. When the engine ends, pending
 * calls get `outcome-unknown` and new ones `store-closed`.
 */
import type { MessagePort } from 'node:worker_threads';
import { badInput, LonghaulError } from '../../../core/ports/errors.ts';
import type {
  CallOptions,
  EventListener,
  EventScope,
  NewJob,
  Unsubscribe,
  WaitSignal,
} from '../../../core/ports/job-store.ts';
import { addingEvents } from '../../../core/ports/job-store.ts';
import { JoinedAdds } from '../joined-adds.ts';
import type { FromEngine, PackedRequest, Reply, Request, RequestName, ToEngine } from './messages.ts';
import { fromThrown } from './messages.ts';
import { packArgument, unpackAnswer, unpackEvents } from './packing.ts';

const ACKNOWLEDGE_EVERY = 50;

/** A batch of this size is sent before the turn ends: the engine starts while the caller makes the rest. */
const MAX_OUTBOX = 100;

interface Waiter {
  readonly name: RequestName;
  readonly argument: unknown;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Of a claim that may wait: ends the wait. */
  readonly wait: { readonly signal: WaitSignal; readonly end: () => void } | undefined;
}

export class PortClient {
  readonly #port: MessagePort;
  readonly #waiters = new Map<number, Waiter>();
  /** How many of them are claims that may wait. */
  #waitingClaims = 0;
  readonly #listeners = new Map<EventListener, EventScope>();
  /** What the engine knows of the listeners. */
  #scope: EventScope | null = null;
  #outbox: PackedRequest[] = [];
  /** The last call of the outbox, if further adds may join it. */
  #joined: JoinedAdds | undefined;
  #lastId = 0;
  #unacknowledged = 0;
  #over: LonghaulError | undefined;
  #drained: (() => void) | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: FromEngine) => this.#receive(message));
    port.on('close', () => this.lose());
  }

  call(name: RequestName, argument: unknown, options: CallOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#over !== undefined) return reject(this.#over);
      if (name !== 'add' || !this.#join(argument as readonly NewJob[], options, { resolve, reject })) {
        this.#joined = undefined;
        this.#push({ name, argument, resolve, reject }, packArgument(name, argument), options);
      }
      if (name !== 'add') return;
      this.#wakeWorkers(argument as readonly NewJob[]);
      if (this.#isAwaited) this.#flush();
    });
  }

  /**
   * Whether an add that was just pushed is sent at once: a claim of this client waits in the engine, so the job starts with
   * it, and nothing else was sent that is not answered. A further add of this turn follows in a message of its own.
   */
  get #isAwaited(): boolean {
    return this.#waitingClaims > 0 && this.#outbox.length === 1 && this.#waiters.size === this.#waitingClaims + 1;
  }

  #push(caller: Omit<Waiter, 'wait'>, packedArgument: unknown, { now, sync, wait }: CallOptions): void {
    const { name, argument, resolve, reject } = caller;
    this.#lastId += 1;
    const waits = wait?.signal.aborted === false ? wait : undefined;
    if (waits !== undefined) this.#waitingClaims += 1;
    this.#waiters.set(this.#lastId, { name, argument, resolve, reject, wait: waits && this.#withdrawal(waits.signal) });
    this.#outbox.push(packed({ id: this.#lastId, name, argument: packedArgument, now, sync, waitMs: waits?.ms }));
    // Runs after all other work of this turn.
    if (this.#outbox.length === 1) queueMicrotask(() => process.nextTick(() => this.#flush()));
    else if (this.#outbox.length >= MAX_OUTBOX) this.#flush();
  }

  /** Adds the jobs to the last call of the outbox, or as a call that others may join. Returns false if neither is possible. */
  #join(jobs: readonly NewJob[], { now }: CallOptions, caller: Pick<Waiter, 'resolve' | 'reject'>): boolean {
    if (now !== undefined || !JoinedAdds.mayJoin(jobs)) return false;
    if (this.#joined?.join(jobs, caller) !== true) {
      const joined = new JoinedAdds(jobs, caller);
      this.#joined = joined;
      this.#push(joined, joined.packed, {});
    }
    if (this.#joined?.isFull === true) this.#flush();
    return true;
  }

  subscribe(listener: EventListener, scope: EventScope = 'all'): Unsubscribe {
    this.#listeners.set(listener, scope);
    this.#listen();
    return () => {
      if (this.#listeners.delete(listener)) this.#listen();
    };
  }

  send(message: ToEngine, transfer: readonly MessagePort[] = []): void {
    this.#port.postMessage(message, transfer);
  }

  /** Rejects new calls; resolves when the pending ones are answered. */
  async drain(): Promise<void> {
    this.#over ??= new LonghaulError('store-closed', 'the store is closed');
    this.#listeners.clear();
    for (const { wait } of this.#waiters.values()) wait?.end();
    if (this.#waiters.size > 0) await new Promise<void>((resolve) => (this.#drained = resolve));
  }

  close(): void {
    this.#port.close();
  }

  /** Called when the engine has ended. */
  lose(cause?: unknown): void {
    this.#over ??= new LonghaulError('store-closed', 'the store engine ended: open the store again', {
      cause,
    });
    const waiters = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const { reject } of waiters)
      reject(new LonghaulError('outcome-unknown', 'the store engine ended before it answered', { cause }));
    this.#drained?.();
  }

  /** Ends the wait of the claim with the last number when the signal is aborted. The claim must arrive first. */
  #withdrawal(signal: WaitSignal): Waiter['wait'] {
    const id = this.#lastId;
    const end = (): void => {
      this.#flush();
      this.send({ kind: 'withdraw', id });
    };
    signal.addEventListener('abort', end);
    return { signal, end };
  }

  /** Workers of this client claim in the same message as the add, and therefore in the same transaction. */
  #wakeWorkers(jobs: readonly NewJob[]): void {
    for (const [listener, scope] of this.#listeners) if (scope === 'work') listener(addingEvents(jobs));
  }

  /** Tells the engine the widest scope of the listeners, if it changed. */
  #listen(): void {
    const scopes = new Set(this.#listeners.values());
    const scope = scopes.has('all') ? 'all' : scopes.has('work') ? 'work' : null;
    if (scope === this.#scope || this.#over !== undefined) return;
    this.#scope = scope;
    this.send({ kind: 'listen', scope });
  }

  #flush(): void {
    const requests = this.#outbox;
    if (requests.length === 0) return;
    this.#outbox = [];
    this.#joined = undefined;
    try {
      this.send({ kind: 'requests', requests });
    } catch (error) {
      if (requests.length > 1) for (const request of requests) this.#flushOne(request);
      else if (requests[0] !== undefined) this.#refuse(requests[0], error);
    }
  }

  /** A call of the batch could not be copied: the others must still be sent. */
  #flushOne(request: PackedRequest): void {
    try {
      this.send({ kind: 'requests', requests: [request] });
    } catch (error) {
      this.#refuse(request, error);
    }
  }

  #refuse([id, name]: PackedRequest, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#settle([id, undefined], badInput(name, [{ path: '', message }]));
  }

  #receive(message: FromEngine): void {
    if (message.kind === 'replies') {
      for (const reply of message.replies) this.#settle(reply, reply[2] && fromThrown(reply[2]));
    } else if (message.kind === 'events') {
      this.#acknowledge();
      const events = unpackEvents(message.events);
      for (const listener of this.#listeners.keys()) listener(events);
    }
  }

  /** Acknowledges every few messages, so that the engine knows that this client is not blocked. */
  #acknowledge(): void {
    this.#unacknowledged += 1;
    if (this.#unacknowledged < ACKNOWLEDGE_EVERY || this.#over !== undefined) return;
    this.send({ kind: 'acknowledge', messages: this.#unacknowledged });
    this.#unacknowledged = 0;
  }

  #settle(reply: Reply, error: Error | undefined): void {
    const id = reply[0];
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    if (waiter?.wait !== undefined) {
      this.#waitingClaims -= 1;
      waiter.wait.signal.removeEventListener('abort', waiter.wait.end);
    }
    if (error !== undefined) waiter?.reject(error);
    else waiter?.resolve(unpackAnswer(waiter.name, reply[1], waiter.argument));
    if (this.#waiters.size === 0) this.#drained?.();
  }
}

/** Leaves out what most requests do not have. */
function packed({ id, name, argument, now, sync, waitMs }: Request): PackedRequest {
  if (waitMs !== undefined) return [id, name, argument, now, sync, waitMs];
  return sync === undefined ? [id, name, argument, now] : [id, name, argument, now, sync];
}
