/**
 * Overload protection. With too many open requests, or an event loop that is late repeatedly, new jobs and reads are
 * refused with Retry-After. Calls of workers and operators have a higher limit: refusing them would cost leases.
 */
import type { Role } from '../../wire/role.ts';
import { refuseRequest } from './problem.ts';
import type { Route } from './route.ts';

export interface OverloadLimits {
  /** Open requests. */
  readonly underWay: number;
  /** How late the event loop may be. */
  readonly lagMs: number;
  /** Bytes of all request bodies in memory. */
  readonly heldBytes: number;
}

/** Reserves memory for a request body until its answer was sent; throws when the limit is reached. */
export type ReserveBytes = (bytes: number) => void;

const DEFAULTS: OverloadLimits = { underWay: 5_000, lagMs: 1_000, heldBytes: 256 * 1024 ** 2 };
const CHECK_EVERY_MS = 250;
/** One long pause is a hiccup; this many in a row mean overload. */
const LATE_IN_A_ROW = 3;
const URGENT_SHARE = 2;
const URGENT: ReadonlySet<Role | 'open'> = new Set(['operate', 'admin', 'open']);
/** The rest of the body is not read. */
const CLOSING = { headers: { connection: 'close' } };

export class Overload {
  readonly #limits: OverloadLimits;
  readonly #timer: NodeJS.Timeout;
  #underWay = 0;
  #held = 0;
  #late = 0;
  #checkedAt: number;

  constructor(limits: Partial<OverloadLimits> = {}, now: () => number = () => performance.now()) {
    this.#limits = { ...DEFAULTS, ...limits };
    this.#checkedAt = now();
    this.#timer = setInterval(() => this.check(now()), CHECK_EVERY_MS);
    this.#timer.unref();
  }

  /** Counts a request and the memory of its body until `gone`; throws when the server is overloaded. */
  enter({ role, answer }: Pick<Route, 'role' | 'answer'>, gone: AbortSignal): ReserveBytes {
    const isUrgent = URGENT.has(role);
    const limit = this.#limits.underWay * (isUrgent ? URGENT_SHARE : 1);
    if (this.#underWay >= limit) throw refuseRequest('overloaded', `${this.#underWay} requests are open`);
    if (!isUrgent && this.#late >= LATE_IN_A_ROW) throw refuseRequest('overloaded', 'the event loop is late');
    // An open event stream does not load the store.
    const weight = answer === 'events' || gone.aborted ? 0 : 1;
    let reserved = 0;
    this.#underWay += weight;
    gone.addEventListener(
      'abort',
      () => {
        this.#underWay -= weight;
        this.#held -= reserved;
      },
      { once: true },
    );
    return (bytes) => {
      reserved += bytes;
      this.#held += bytes;
      if (this.#held > this.#limits.heldBytes)
        throw refuseRequest('overloaded', 'the request bodies in memory exceed the limit', CLOSING);
    };
  }

  check(now: number): void {
    const lateMs = now - this.#checkedAt - CHECK_EVERY_MS;
    this.#late = lateMs > this.#limits.lagMs ? this.#late + 1 : 0;
    this.#checkedAt = now;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
