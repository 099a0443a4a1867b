/**
 * The main thread's side of a lease renewer in another thread. All workers of a store share one.
 *
 * It starts with the first worker and ends with the last, in a thread of its own or in that of the store
 * (renewer-host.ts). A thread of its own that dies is started again; that takes less time than a lease lasts.
 */
import type { ErrorCode } from '../../core/ports/errors.ts';
import { ERROR_CODES, LonghaulError } from '../../core/ports/errors.ts';
import type { Store, StoreDescription, StoreThread } from '../../core/ports/store.ts';
import { atMost } from '../outcome/deadline.ts';
import type { LeaseRenewer, LeaseRenewerPlan, RenewerListener } from './lease-renewer.ts';
import type { FromLeaseRenewer, HostListener, RenewerHost, ToLeaseRenewer } from './renewer-host.ts';
import { END_DEADLINE_MS, joinThread, startThread } from './renewer-host.ts';

interface Client {
  plan: LeaseRenewerPlan;
  readonly emit: RenewerListener;
  onClosed(): void;
}

const threads = new WeakMap<Store, LeaseRenewerThread>();
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
  #description: StoreDescription | StoreThread | null;
  #host: RenewerHost | null = null;
  #isStoreThread = false;
  #ready: Promise<void> | null = null;
  #restart: NodeJS.Timeout | null = null;
  #keys = 0;

  constructor(store: Store, description: StoreDescription | StoreThread) {
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
    if (this.#host !== null) await atMost(closed, END_DEADLINE_MS);
    await this.#leave(key);
  }

  /** Removes a worker. The last one ends the thread. */
  async #leave(key: number): Promise<void> {
    this.#clients.delete(key);
    if (this.#clients.size > 0) return;
    threads.delete(this.#store);
    if (this.#restart !== null) clearTimeout(this.#restart);
    const host = this.#host;
    this.#host = null;
    await host?.end();
  }

  #start(): Promise<void> {
    const description = this.#description ?? this.#store.describe();
    this.#description = null;
    if (description === null) return Promise.reject(new Error('the store cannot be opened again'));
    this.#isStoreThread = 'run' in description;
    return new Promise((resolve, reject) => {
      const onMessage = (message: FromLeaseRenewer): void => {
        if (message.kind === 'ready') resolve();
        else if (message.kind === 'failed') reject(errorOf(message));
        else this.#dispatch(message);
      };
      const onEnd = (error: unknown): void => {
        reject(new LonghaulError('store-unavailable', 'the lease renewer thread ended at its start'));
        this.#ended(host, error);
      };
      const host = openHost(description, { onMessage, onEnd });
      this.#host = host;
    });
  }

  #dispatch(message: FromLeaseRenewer & { kind: 'event' | 'closed' }): void {
    const client = this.#clients.get(message.key);
    if (message.kind === 'closed') client?.onClosed();
    else client?.emit(message.event);
  }

  /** A store's thread is not started again: without it there is no store. */
  #ended(host: RenewerHost, error: unknown): void {
    if (this.#host !== host) return;
    this.#host = null;
    const why = error ?? new LonghaulError('store-closed', 'the lease renewer thread ended');
    const kind = this.#isStoreThread ? 'unavailable' : 'trouble';
    for (const client of this.#clients.values()) client.emit({ kind, error: why });
    if (!this.#isStoreThread) this.#restart = setTimeout(() => void this.#reopen(), RESTART_DELAY_MS);
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
    this.#host?.post(message);
  }
}

function openHost(description: StoreDescription | StoreThread, listener: HostListener): RenewerHost {
  return 'run' in description ? joinThread(description, listener) : startThread(description, listener);
}

function errorOf({ message, code }: FromLeaseRenewer & { kind: 'failed' }): LonghaulError {
  const known = ERROR_CODES.find((each) => each === code);
  return new LonghaulError((known ?? 'store-unavailable') satisfies ErrorCode, message);
}
