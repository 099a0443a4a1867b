/**
 * The renewer in a thread of its own, seen from the main thread: one thread a store, shared by all its workers.
 *
 * The thread starts with the first worker and ends with the last. One that dies is started again: leases last longer
 * than that takes.
 */
import { Worker as Thread } from 'node:worker_threads';
import type { ErrorCode } from '../../core/ports/errors.ts';
import { ERROR_CODES, LonghaulError } from '../../core/ports/errors.ts';
import type { Store, StoreDescription } from '../../core/ports/store.ts';
import { atMost } from '../outcome/deadline.ts';
import type { LeaseRenewer, LeaseRenewerEvent, LeaseRenewerPlan, Saying, TellNews } from './lease-renewer.ts';

export type ToLeaseRenewer =
  | { readonly kind: 'open'; readonly key: number; readonly plan: LeaseRenewerPlan }
  | { readonly kind: 'say'; readonly key: number; readonly saying: Saying }
  | { readonly kind: 'rename'; readonly key: number; readonly id: string }
  | { readonly kind: 'close'; readonly key: number }
  | { readonly kind: 'end' };

export type FromLeaseRenewer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | null }
  | { readonly kind: 'news'; readonly key: number; readonly news: LeaseRenewerEvent }
  | { readonly kind: 'closed'; readonly key: number };

interface Client {
  plan: LeaseRenewerPlan;
  readonly tell: TellNews;
  onClosed(): void;
}

const threads = new WeakMap<Store, LeaseRenewerThread>();
/** A thread that does not end by itself in this time is ended. */
const END_DEADLINE_MS = 5_000;
const RESTART_DELAY_MS = 500;

/** Null where the store cannot be opened again. */
export function openThreadLeaseRenewer(
  store: Store,
  plan: LeaseRenewerPlan,
  tell: TellNews,
): Promise<LeaseRenewer> | null {
  const known = threads.get(store);
  if (known !== undefined) return known.open(plan, tell);
  const description = store.describe();
  if (description === null) return null;
  const thread = new LeaseRenewerThread(store, description);
  threads.set(store, thread);
  return thread.open(plan, tell);
}

class LeaseRenewerThread {
  readonly #store: Store;
  readonly #clients = new Map<number, Client>();
  /** How to open the store for the next thread; each one needs a description of its own. */
  #description: StoreDescription | null;
  #thread: Thread | null = null;
  #ready: Promise<void> | null = null;
  #restart: NodeJS.Timeout | null = null;
  #keys = 0;

  constructor(store: Store, description: StoreDescription) {
    this.#store = store;
    this.#description = description;
  }

  async open(plan: LeaseRenewerPlan, tell: TellNews): Promise<LeaseRenewer> {
    this.#keys += 1;
    const key = this.#keys;
    const client: Client = { plan, tell, onClosed: () => undefined };
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
      say: (saying) => this.#post({ kind: 'say', key, saying }),
      rename: (id) => {
        client.plan = { ...client.plan, worker: { ...client.plan.worker, id } };
        this.#post({ kind: 'rename', key, id });
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

  /** The last one ends the thread. */
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
        else this.#hear(message);
      });
      thread.on('error', (error) => this.#died(thread, error));
      thread.once('exit', () => {
        reject(new LonghaulError('store-unavailable', 'the thread that keeps the leases ended at its start'));
        this.#died(thread, null);
      });
    });
  }

  #hear(message: FromLeaseRenewer & { kind: 'news' | 'closed' }): void {
    const client = this.#clients.get(message.key);
    if (message.kind === 'closed') client?.onClosed();
    else client?.tell(message.news);
  }

  #died(thread: Thread, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    const why = error ?? new Error('the thread that keeps the leases ended');
    for (const client of this.#clients.values()) client.tell({ kind: 'trouble', error: why });
    this.#restart = setTimeout(() => void this.#reopen(), RESTART_DELAY_MS);
  }

  /** Again, with all who are there. What they said in between is lost; the leases are on their boards. */
  async #reopen(): Promise<void> {
    const ready = this.#start();
    this.#ready = ready;
    // A start that fails ends the thread, and its end starts it again.
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
    name: 'longhaul-keeper',
    // As for the engine of SQLite: the options of the program are not meant for a file of ours.
    execArgv: [],
    workerData: { module, options },
    transferList: [...transfer] as never[],
  });
}

function errorOf({ message, code }: FromLeaseRenewer & { kind: 'failed' }): LonghaulError {
  const known = ERROR_CODES.find((each) => each === code);
  return new LonghaulError((known ?? 'store-unavailable') satisfies ErrorCode, message);
}
