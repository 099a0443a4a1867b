/**
 * What the renewer knows of the leases on the table: until when each holds, and what is to be said with its next beat.
 *
 * Renewal is due when the queue's heartbeat says so (attempts.ts). Whatever is half-way there goes along, so that the
 * leases of a worker soon travel together, however they were claimed.
 */
import type { Heartbeat, HeartbeatResult } from '../../core/ports/job-store.ts';
import type { Saying, TellNews, Words } from './lease-renewer.ts';
import type { BoardLease, BoardReader } from './lease-table.ts';

export interface HeldLease {
  readonly id: string;
  readonly token: number;
  readonly ms: number;
  readonly beatMs: number;
  readonly seenAt: number;
  validUntil: number;
  needsStart: boolean;
  words: Words | null;
  /** The number of the last saying that `words` holds. */
  number: number;
  isCancelTold: boolean;
  isPauseTold: boolean;
  expiry: 'far' | 'seen' | 'told';
  /** The store refused it. It stays known, so as not to be taken for a new one, until it is off the table. */
  isLost: boolean;
}

const GO_ALONG_AFTER = 1 / 2;
/** An attempt that lives so long counts as begun, unless its runner says so itself. */
const BEGUN_AFTER_MS = 1_000;
/** An attempt must stop before its lease ends: a quarter of the lease before, ten seconds at the most. */
const MAX_MARGIN_MS = 10_000;

export class HeldLeases {
  readonly #table: BoardReader;
  readonly #startedPid: number | null;
  #held = new Map<number, HeldLease>();

  /** `startedPid`: as which process attempts begin by themselves; null when they say so. */
  constructor(table: BoardReader, startedPid: number | null) {
    this.#table = table;
    this.#startedPid = startedPid;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  /** Takes over what stands on the table now and forgets the rest. */
  sync(now: number): void {
    const next = new Map<number, HeldLease>();
    this.#table.each((token, read) => {
      const known = this.#held.get(token) ?? held(read(), now, this.#startedPid !== null);
      if (known !== null) next.set(known.token, known);
    });
    this.#held = next;
  }

  /** Answers whether the lease is (still) on the table. */
  say({ token, number, words }: Saying): boolean {
    const lease = this.#held.get(token);
    if (lease === undefined) return false;
    lease.words = { ...lease.words, ...words };
    lease.number = number;
    return true;
  }

  /** All that must be renewed or has something to say, and what goes along; the most urgent first. */
  due(now: number): readonly HeldLease[] {
    const all = [...this.#held.values()].filter((lease) => !lease.isLost);
    if (!all.some((lease) => this.#isDue(lease, now))) return [];
    const along = all.filter((lease) => this.#isDue(lease, now) || ageOf(lease, now) >= lease.beatMs * GO_ALONG_AFTER);
    return along.sort((a, b) => a.validUntil - b.validUntil);
  }

  #isDue(lease: HeldLease, now: number): boolean {
    return lease.words !== null || ageOf(lease, now) >= lease.beatMs || hasBegun(lease, now);
  }

  beatOf(lease: HeldLease, now: number): Heartbeat {
    const { id, token, words } = lease;
    const start = hasBegun(lease, now) ? { started: { pid: this.#startedPid } } : {};
    return { id, token, ...start, ...words };
  }

  /** What a beat's answer means for its lease. */
  heard(lease: HeldLease, answer: HeartbeatResult, tell: TellNews): void {
    if (!answer.ok) {
      lease.isLost = true;
      return tell({ kind: 'lost', token: lease.token });
    }
    if (answer.cancelAsked && !lease.isCancelTold) tell({ kind: 'cancel', token: lease.token });
    if (answer.pauseAsked !== lease.isPauseTold)
      tell({ kind: 'pause', token: lease.token, isAsked: answer.pauseAsked });
    lease.isCancelTold = answer.cancelAsked;
    lease.isPauseTold = answer.pauseAsked;
  }

  /**
   * Tells once of every lease that is about to end. Not at the first look that finds it so: a process that was frozen
   * wakes up with all its leases overdue, and the beat that follows each look may still renew them or say that they
   * are lost. The margin leaves room for the second look.
   */
  warn(now: number, tickMs: number, tell: TellNews): void {
    for (const lease of this.#held.values()) {
      const marginMs = Math.min(lease.ms / 4, MAX_MARGIN_MS) + tickMs;
      const isExpiring = !lease.isLost && now >= lease.validUntil - marginMs;
      if (isExpiring && lease.expiry === 'seen') tell({ kind: 'expiring', token: lease.token });
      lease.expiry = isExpiring ? (lease.expiry === 'far' ? 'seen' : 'told') : 'far';
    }
  }
}

function held(lease: BoardLease | null, now: number, needsStart: boolean): HeldLease | null {
  if (lease === null) return null;
  const told = { isCancelTold: false, isPauseTold: false, expiry: 'far', isLost: false } as const;
  return { ...lease, seenAt: now, needsStart, words: null, number: 0, ...told };
}

/** Since the lease was last given or renewed. */
function ageOf(lease: HeldLease, now: number): number {
  return lease.ms - (lease.validUntil - now);
}

function hasBegun(lease: HeldLease, now: number): boolean {
  return lease.needsStart && now - lease.seenAt >= BEGUN_AFTER_MS;
}
