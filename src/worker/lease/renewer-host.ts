/**
 * Where a lease renewer runs, as the main thread uses it: in a thread of its own, or in the thread that the store has
 * anyway. A second thread would cost 10 MB, and its calls would wait for the store's thread all the same.
 */
import { MessageChannel, Worker as Thread } from 'node:worker_threads';
import type { StoreDescription, StoreThread } from '../../core/ports/store.ts';
import { atMost } from '../outcome/deadline.ts';
import type { HeartbeatUpdate, LeaseRenewerEvent, LeaseRenewerPlan } from './lease-renewer.ts';

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

export interface RenewerHost {
  post(message: ToLeaseRenewer): void;
  /** Ends the renewer; the thread of a store continues. */
  end(): Promise<void>;
}

export interface HostListener {
  onMessage(message: FromLeaseRenewer): void;
  /** The thread ended; `error` is null when it gave no reason. */
  onEnd(error: unknown): void;
}

/** A renewer that does not end in this time is terminated. */
export const END_DEADLINE_MS = 5_000;

export function startThread({ module, options, transfer }: StoreDescription, listener: HostListener): RenewerHost {
  const thread = new Thread(new URL('./lease-renewer-thread.js', import.meta.url), {
    name: 'longhaul-lease-renewer',
    // As for the SQLite engine: the options of the user's program are not meant for this file.
    execArgv: [],
    workerData: { module, options },
    transferList: [...transfer] as never[],
  });
  const ended = new Promise((resolve) => thread.once('exit', resolve));
  thread.on('message', (message: FromLeaseRenewer) => listener.onMessage(message));
  thread.on('error', (error) => listener.onEnd(error));
  thread.once('exit', () => listener.onEnd(null));
  return {
    post: (message) => thread.postMessage(message),
    end: async () => {
      thread.postMessage({ kind: 'end' } satisfies ToLeaseRenewer);
      await atMost(ended, END_DEADLINE_MS);
      await thread.terminate();
    },
  };
}

export function joinThread(thread: StoreThread, listener: HostListener): RenewerHost {
  const { port1: port, port2 } = new MessageChannel();
  const ended = new Promise((resolve) => port.once('close', resolve));
  port.on('message', (message: FromLeaseRenewer) => listener.onMessage(message));
  port.once('close', () => listener.onEnd(null));
  thread.run(new URL('./renewer-in-store-thread.js', import.meta.url).href, port2);
  return {
    post: (message) => port.postMessage(message),
    end: async () => {
      port.postMessage({ kind: 'end' } satisfies ToLeaseRenewer);
      await atMost(ended, END_DEADLINE_MS);
      port.close();
    },
  };
}
