/**
 * The lease renewer, as the main thread sees it: it renews what stands on the table, carries what attempts say, and
 * brings news. Over a store that can be opened again it lives in a thread of its own (thread-keeper.ts), so that a
 * blocked event loop loses no lease; otherwise beside the handlers (local-keeper.ts).
 */
import type { WorkerBeat } from '../../core/ports/job-store.ts';

/** What a renewer needs to know of a worker. Plain data and shared memory: it goes to another thread. */
export interface LeaseRenewerPlan {
  readonly memory: SharedArrayBuffer;
  readonly worker: Omit<WorkerBeat, 'kind'>;
  /** How often the renewer looks at the table. */
  readonly tickMs: number;
  /** The same while no lease is on it. */
  readonly calmTickMs: number;
  /** Attempts say themselves when they have begun; otherwise one that lives for a second has. */
  readonly saysStarted: boolean;
  readonly maxBlockMs: number | null;
}

/** What an attempt says with a heartbeat. The last value of each kind wins. */
export interface Words {
  readonly started?: { readonly pid: number | null };
  readonly progress?: { readonly percent: number | null; readonly text: string | null };
  readonly checkpoint?: string;
  readonly data?: string;
}

export interface Saying {
  readonly token: number;
  /** Grows with every saying of an attempt; the answer names the last one that the store has. */
  readonly number: number;
  readonly words: Words;
  /** Goes out at once, and not with the next look at the table. */
  readonly isUrgent: boolean;
}

export type LeaseRenewerEvent =
  | { readonly kind: 'said'; readonly token: number; readonly number: number }
  | { readonly kind: 'lost'; readonly token: number }
  | { readonly kind: 'cancel'; readonly token: number }
  | { readonly kind: 'pause'; readonly token: number; readonly isAsked: boolean }
  /** Nobody could renew it, and it is about to end. */
  | { readonly kind: 'expiring'; readonly token: number }
  | { readonly kind: 'worker-lost' }
  | { readonly kind: 'away'; readonly error: unknown }
  | { readonly kind: 'back' }
  /** The main thread was blocked for so long; told when it is no longer. */
  | { readonly kind: 'blocked'; readonly ms: number }
  | { readonly kind: 'trouble'; readonly error: unknown };

export interface LeaseRenewer {
  say(saying: Saying): void;
  /** The worker goes on under another id. */
  rename(id: string): void;
  /** Resolved when no call of it is under way. Leases that still stand on the table are left to end. */
  close(): Promise<void>;
}

export type TellNews = (news: LeaseRenewerEvent) => void;
