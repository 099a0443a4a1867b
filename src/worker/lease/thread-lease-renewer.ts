/**
 * The main thread's side of a lease renewer in a thread of its own. All workers of a store share one thread.
 *
 * The thread starts with the first worker and ends with the last. A thread that dies is started again; that takes less
 * time than a lease lasts.
 */
import { Worker as Thread } from 'node:worker_threads';
import type { ErrorCode } from '../../core/ports/errors.ts';
import { ERROR_CODES, LonghaulError } from '../../core/ports/errors.ts';
import type { Store, StoreDescription } from '../../core/ports/store.ts';
import { atMost } from '../outcome/deadline.ts';
import type {
  HeartbeatUpdate,
  LeaseRenewer,
  LeaseRenewerEvent,
  LeaseRenewerPlan,
  RenewerListener,
} from './lease-renewer.ts';

export type ToLeaseRenewer =
  | { readonly kind: 'open'; readonly key: number; readonly plan: LeaseRenewerPlan }
  | { readonly kind: 'update'; readonly key: number; readonly update: HeartbeatUpdate }
  | { readonly kind: 'rename'; readonly key: number; readonly id: string }
  | { readonly kind: 'show'; readonly key: number; readonly info: string }
  | { readonly kind: 'close'; readonly key: number }
  | { readonly kind: 'end' };

export type FromLeaseRenewer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | null }
  | { readonly kind: 'event'; readonly key: number; readonly event: LeaseRenewerEvent }
  | { readonly kind: 'closed'; readonly key: number };

interface Client {
  plan: LeaseRenewerPlan;
  readonly emit: RenewerListener;
  onClosed(): void;
}

const threads = new WeakMap<Store, LeaseRenewerThread>();
/** A thread that does not end in this time is terminated. */
const END_DEADLINE_MS = 5_000;
const RESTART_DELAY_MS = 500;

/** Returns null when the store cannot be opened a second time. */
export function openThreadLeaseRenewer(
  store: Store,
  plan: LeaseRenewerPlan,
  emit: RenewerListener,
): Promise<LeaseRenewer> | null {
  const known = threads.get(store);
  if (known !== undefined) return known.open(plan, emit);
  const description = store.describe();
  if (description === null) return null;
  const thread = new LeaseRenewerThread(store, description);
  threads.set(store, thread);
  return thread.open(plan, emit);
}

class LeaseRenewerThread {
  readonly #store: Store;
  readonly #clients = new Map<number, Client>();
  /** How the next thread opens the store. Each thread needs a description of its own. */
  #description: StoreDescription | null;
  #thread: Thread | null = null;
  #ready: Promise<void> | null = null;
  #restart: NodeJS.Timeout | null = null;
  #keys = 0;

  constructor(store: Store, description: StoreDescription) {
    this.#store = store;
    this.#description = description;
  }

  async open(plan: LeaseRenewerPlan, emit: RenewerListener): Promise<LeaseRenewer> {
    this.#keys += 1;
    const key = this.#keys;
    const client: Client = { plan, emit, onClosed: () => undefined };
    this.#clients.set(key, client);
    try {
      this.#ready ??= this.#start();
      await this.#ready;
    } catch (error) {
      await this.#leave(key);
      throw error;
    }
    this.#post({ kind: 'open', key, plan });
    return {
      send: (update) => this.#post({ kind: 'update', key, update }),
      rename: (id) => {
        client.plan = { ...client.plan, worker: { ...client.plan.worker, id } };
        this.#post({ kind: 'rename', key, id });
      },
      show: (info) => {
        client.plan = { ...client.plan, worker: { ...client.plan.worker, info } };
        this.#post({ kind: 'show', key, info });
      },
      close: () => this.#close(key, client),
    };
  }

  async #close(key: number, client: Client): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      client.onClosed = resolve;
    });
    this.#post({ kind: 'close', key });
    if (this.#thread !== null) await atMost(closed, END_DEADLINE_MS);
    await this.#leave(key);
  }

  /** Removes a worker. The last one ends the thread. */
  async #leave(key: number): Promise<void> {
    this.#clients.delete(key);
    if (this.#clients.size > 0) return;
    threads.delete(this.#store);
    if (this.#restart !== null) clearTimeout(this.#restart);
    const thread = this.#thread;
    this.#thread = null;
    if (thread === null) return;
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    thread.postMessage({ kind: 'end' } satisfies ToLeaseRenewer);
    await atMost(ended, END_DEADLINE_MS);
    await thread.terminate();
  }

  #start(): Promise<void> {
    const description = this.#description ?? this.#store.describe();
    this.#description = null;
    if (description === null) return Promise.reject(new Error('the store cannot be opened again'));
    const thread = spawn(description);
    this.#thread = thread;
    return new Promise((resolve, reject) => {
      thread.on('message', (message: FromLeaseRenewer) => {
        if (message.kind === 'ready') resolve();
        else if (message.kind === 'failed') reject(errorOf(message));
        else this.#dispatch(message);
      });
      thread.on('error', (error) => this.#died(thread, error));
      thread.once('exit', () => {
        reject(new LonghaulError('store-unavailable', 'the lease renewer thread ended at its start'));
        this.#died(thread, null);
      });
    });
  }

  #dispatch(message: FromLeaseRenewer & { kind: 'event' | 'closed' }): void {
    const client = this.#clients.get(message.key);
    if (message.kind === 'closed') client?.onClosed();
    else client?.emit(message.event);
  }

  #died(thread: Thread, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    const why = error ?? new Error('the lease renewer thread ended');
    for (const client of this.#clients.values()) client.emit({ kind: 'trouble', error: why });
    this.#restart = setTimeout(() => void this.#reopen(), RESTART_DELAY_MS);
  }

  /** Starts the thread again for all workers. Updates sent in between are lost; the leases are in the lease tables. */
  async #reopen(): Promise<void> {
    const ready = this.#start();
    this.#ready = ready;
    // A failed start ends the thread, and the end starts it again.
    await ready.then(
      () => {
        for (const [key, { plan }] of this.#clients) this.#post({ kind: 'open', key, plan });
      },
      () => undefined,
    );
  }

  #post(message: ToLeaseRenewer): void {
    this.#thread?.postMessage(message);
  }
}

function spawn({ module, options, transfer }: StoreDescription): Thread {
  return new Thread(new URL('./lease-renewer-thread.js', import.meta.url), {
    name: 'longhaul-lease-renewer',
    // As for the SQLite engine: the options of the user's program are not meant for this file.
    execArgv: [],
    workerData: { module, options },
    transferList: [...transfer] as never[],
  });
}

function errorOf({ message, code }: FromLeaseRenewer & { kind: 'failed' }): LonghaulError {
  const known = ERROR_CODES.find((each) => each === code);
  return new LonghaulError((known ?? 'store-unavailable') satisfies ErrorCode, message);
}
