/**
 * Saying no while it can still be said: when too much is under way at once, or the event loop has been late again and
 * again, new work and reading are refused with a word on when to come back. What workers say of running jobs, and what
 * an operator orders, is let through far longer: refusing that would cost leases.
 */
import type { Role } from '../../wire/role.ts';
import { refuseRequest } from './problem.ts';
import type { Route } from './route.ts';

export interface OverloadLimits {
  /** Requests that wait for the store at once. */
  readonly underWay: number;
  /** How late the event loop may be. */
  readonly lagMs: number;
  /** Bytes of all bodies that are held at once. */
  readonly heldBytes: number;
}

/** Counts bytes of a body that are held until its answer is out; throws when there is no room for more. */
export type Hold = (bytes: number) => void;

const USUAL: OverloadLimits = { underWay: 5_000, lagMs: 1_000, heldBytes: 256 * 1024 ** 2 };
const LOOK_EVERY_MS = 250;
/** One long pause is a hiccup; this many in a row are a load. */
const LATE_IN_A_ROW = 3;
const URGENT_SHARE = 2;
const URGENT: ReadonlySet<Role | 'open'> = new Set(['operate', 'admin', 'open']);
/** The rest of that body stays unread. */
const CLOSING = { headers: { connection: 'close' } };

export class Overload {
  readonly #limits: OverloadLimits;
  readonly #timer: NodeJS.Timeout;
  #underWay = 0;
  #held = 0;
  #late = 0;
  #lookedAt: number;

  constructor(limits: Partial<OverloadLimits> = {}, now: () => number = () => performance.now()) {
    this.#limits = { ...USUAL, ...limits };
    this.#lookedAt = now();
    this.#timer = setInterval(() => this.look(now()), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Throws when there is no room; else the request counts until `gone`, and so does what is held of its body. */
  enter({ role, answer }: Pick<Route, 'role' | 'answer'>, gone: AbortSignal): Hold {
    const isUrgent = URGENT.has(role);
    const room = this.#limits.underWay * (isUrgent ? URGENT_SHARE : 1);
    if (this.#underWay >= room) throw refuseRequest('overloaded', `${this.#underWay} requests are under way`);
    if (!isUrgent && this.#late >= LATE_IN_A_ROW) throw refuseRequest('overloaded', 'the server cannot keep up');
    // A stream that is open costs the store nothing.
    const weight = answer === 'events' || gone.aborted ? 0 : 1;
    let held = 0;
    this.#underWay += weight;
    gone.addEventListener(
      'abort',
      () => {
        this.#underWay -= weight;
        this.#held -= held;
      },
      { once: true },
    );
    return (bytes) => {
      held += bytes;
      this.#held += bytes;
      if (this.#held > this.#limits.heldBytes)
        throw refuseRequest('overloaded', 'too many large bodies at once', CLOSING);
    };
  }

  look(now: number): void {
    const lateMs = now - this.#lookedAt - LOOK_EVERY_MS;
    this.#late = lateMs > this.#limits.lagMs ? this.#late + 1 : 0;
    this.#lookedAt = now;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
