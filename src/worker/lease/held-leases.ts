/**
 * What the lease renewer knows of the leases in the lease table: until when each is valid, and what its next heartbeat
 * carries.
 *
 * A renewal is due by the heartbeat interval of the queue (run-attempt.ts). Leases that are half-way there are renewed
 * along with it, so that the leases of a worker soon travel together, whenever they were claimed.
 */
import type { Heartbeat, HeartbeatResult } from '../../core/ports/job-store.ts';
import type { HeartbeatPayload, HeartbeatUpdate, RenewerListener } from './lease-renewer.ts';
import type { LeaseTableReader, ReadLease } from './lease-table.ts';

export interface HeldLease {
  /** Of the lease table. */
  readonly entry: number;
  readonly id: string;
  readonly token: number;
  readonly ms: number;
  readonly heartbeatMs: number;
  readonly seenAt: number;
  validUntil: number;
  needsStart: boolean;
  payload: HeartbeatPayload | null;
  /** The number of the last update in `payload`. */
  number: number;
  isCancelEmitted: boolean;
  isPauseEmitted: boolean;
  /** The store refused it. It stays known until it leaves the table, so that it does not count as a new lease. */
  isLost: boolean;
}

const RENEW_ALONG_AFTER = 1 / 2;
/** An attempt that lives for this long counts as started, unless its runner reports the start itself. */
const STARTED_AFTER_MS = 1_000;

export class HeldLeases {
  readonly #table: LeaseTableReader;
  readonly #startedPid: number | null;
  #held = new Map<number, HeldLease>();

  /** `startedPid`: the process that attempts start in; null when their runner reports the start itself. */
  constructor(table: LeaseTableReader, startedPid: number | null) {
    this.#table = table;
    this.#startedPid = startedPid;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  /** Adds the leases that are new in the table, and drops those that have left it. */
  sync(now: number): void {
    const next = new Map<number, HeldLease>();
    this.#table.each((token, read) => {
      const known = this.#held.get(token) ?? held(read(), now, this.#startedPid !== null);
      if (known !== null) next.set(known.token, known);
    });
    this.#held = next;
  }

  /** Adds an update to the next heartbeat of its lease. Returns false when the lease is unknown. */
  update({ token, number, payload }: HeartbeatUpdate): boolean {
    const lease = this.#held.get(token);
    if (lease === undefined) return false;
    lease.payload = { ...lease.payload, ...payload };
    lease.number = number;
    return true;
  }

  /** Returns the leases to renew now, the most urgent first: those that are due, and those renewed along with them. */
  due(now: number): readonly HeldLease[] {
    const all = [...this.#held.values()].filter((lease) => !lease.isLost);
    if (!all.some((lease) => this.#isDue(lease, now))) return [];
    const isAlong = (lease: HeldLease): boolean => ageOf(lease, now) >= lease.heartbeatMs * RENEW_ALONG_AFTER;
    return all.filter((lease) => this.#isDue(lease, now) || isAlong(lease)).sort((a, b) => a.validUntil - b.validUntil);
  }

  #isDue(lease: HeldLease, now: number): boolean {
    return lease.payload !== null || ageOf(lease, now) >= lease.heartbeatMs || hasStarted(lease, now);
  }

  heartbeatOf(lease: HeldLease, now: number): Heartbeat {
    const { id, token, payload } = lease;
    const start = hasStarted(lease, now) ? { started: { pid: this.#startedPid } } : {};
    return { id, token, ...start, ...payload };
  }

  /** Emits what the answer to a heartbeat means for its lease. */
  answered(lease: HeldLease, answer: HeartbeatResult, emit: RenewerListener): void {
    if (!answer.ok) {
      lease.isLost = true;
      return emit({ kind: 'lost', token: lease.token });
    }
    if (answer.cancelAsked && !lease.isCancelEmitted) emit({ kind: 'cancel', token: lease.token });
    if (answer.pauseAsked !== lease.isPauseEmitted)
      emit({ kind: 'pause', token: lease.token, isAsked: answer.pauseAsked });
    lease.isCancelEmitted = answer.cancelAsked;
    lease.isPauseEmitted = answer.pauseAsked;
  }
}

function held(lease: ReadLease | null, now: number, needsStart: boolean): HeldLease | null {
  if (lease === null) return null;
  const emitted = { isCancelEmitted: false, isPauseEmitted: false, isLost: false } as const;
  return { ...lease, seenAt: now, needsStart, payload: null, number: 0, ...emitted };
}

/** Returns the time since the lease was granted or last renewed. */
function ageOf(lease: HeldLease, now: number): number {
  return lease.ms - (lease.validUntil - now);
}

function hasStarted(lease: HeldLease, now: number): boolean {
  return lease.needsStart && now - lease.seenAt >= STARTED_AFTER_MS;
}
