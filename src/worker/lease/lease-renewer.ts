/**
 * The lease renewer, as the main thread uses it: it renews the leases in the lease table, carries the heartbeat updates
 * of attempts, and emits events.
 *
 * It runs in the thread of the store if that has one, or in a thread of its own (thread-lease-renewer.ts) if the store
 * can be opened a second time, so that a blocked event loop loses no lease. Otherwise it runs on the main thread
 * (local-lease-renewer.ts).
 */
import type { WorkerHeartbeat } from '../../core/ports/job-store.ts';

/** What a lease renewer needs to know of a worker. Plain data and shared memory, because it is sent to another thread. */
export interface LeaseRenewerPlan {
  readonly memory: SharedArrayBuffer;
  readonly worker: Omit<WorkerHeartbeat, 'kind'>;
  /** How often the renewer reads the lease table. */
  readonly tickMs: number;
  /** The same while the table is empty. */
  readonly calmTickMs: number;
  /** Attempts report their start themselves; otherwise an attempt that lives for a second has started. */
  readonly reportsStart: boolean;
  readonly maxBlockMs: number | null;
}

/** What a heartbeat carries besides the renewal. The last value of each field wins. */
export interface HeartbeatPayload {
  readonly started?: { readonly pid: number | null };
  readonly progress?: { readonly percent: number | null; readonly text: string | null };
  readonly checkpoint?: string;
  readonly data?: string;
}

/** A payload for the next heartbeat of an attempt. */
export interface HeartbeatUpdate {
  readonly token: number;
  /** Grows with every update of an attempt. The acknowledgement names the last update that the store has. */
  readonly number: number;
  readonly payload: HeartbeatPayload;
  /** Sent at once, and not with the next tick. */
  readonly isUrgent: boolean;
}

export type LeaseRenewerEvent =
  | { readonly kind: 'acknowledged'; readonly token: number; readonly number: number }
  | { readonly kind: 'lost'; readonly token: number }
  | { readonly kind: 'cancel'; readonly token: number }
  | { readonly kind: 'pause'; readonly token: number; readonly isAsked: boolean }
  | { readonly kind: 'worker-lost' }
  | { readonly kind: 'unavailable'; readonly error: unknown }
  | { readonly kind: 'available' }
  /** The main thread was blocked for this long. Emitted when it no longer is. */
  | { readonly kind: 'blocked'; readonly ms: number }
  | { readonly kind: 'trouble'; readonly error: unknown };

export interface LeaseRenewer {
  send(update: HeartbeatUpdate): void;
  /** The worker continues under another id. */
  rename(id: string): void;
  /** Replaces the information about the worker in its registration: the JSON text of an object. */
  show(info: string): void;
  /** Resolves when no call is in flight. Leases that are still in the table expire. */
  close(): Promise<void>;
}

export type RenewerListener = (event: LeaseRenewerEvent) => void;
