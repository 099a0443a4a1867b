/**
 * All that decides who may do what, put together for a server: the guard, the audit, and the store with its rates.
 *
 *     const access = openAccess({ store, now, hosts, requireToken, onTrouble });
 *     openServer({ context: { store: access.store, … }, guard: access.guard, onAnswer: access.onAnswer, … });
 */
import type { Store } from '../../core/ports/store.ts';
import type { Answered } from '../http/dispatch.ts';
import type { OverloadLimits } from '../http/overload.ts';
import { Overload } from '../http/overload.ts';
import { Stays } from '../streams/open-streams.ts';
import { writeAudit } from './audit.ts';
import { Callers } from './callers.ts';
import type { Guard, GuardParts } from './guard.ts';
import { createGuard } from './guard.ts';
import type { RateLimits } from './rates.ts';
import { limitAdds, limitRequests, NO_RATES } from './rates.ts';
import { makeLoginCode } from './sessions.ts';
import { WrongTokens } from './wrong-tokens.ts';

export interface AccessOptions {
  readonly store: Store;
  now(): number;
  /** Names this server answers for besides those of the loopback, without a port. */
  readonly hosts?: readonly string[];
  /** Also on the loopback. Beyond it, a token is always needed. */
  readonly requireToken?: boolean;
  readonly rates?: RateLimits;
  readonly overload?: Partial<OverloadLimits>;
  /** Knows the nodes of the store by their proofs; where there is none, no node is let in. */
  readonly nodeBy?: GuardParts['nodeBy'];
  onTrouble(what: string, error: unknown): void;
}

export interface Access {
  readonly guard: Guard;
  /** The store as the routes shall see it. */
  readonly store: Store;
  /** Leaves a row in the audit where the route wants one. */
  onAnswer(answered: Answered): Promise<void>;
  /** For the link that a start prints: `/login#<code>`, good for one login as admin within the hour. */
  loginCode(): Promise<string>;
  stop(): void;
}

export function openAccess(options: AccessOptions): Access {
  const { store, now, hosts = [], requireToken = false, rates = NO_RATES, onTrouble } = options;
  const callers = new Callers(store.records, now);
  const load = new Overload(options.overload);
  const guard = createGuard({
    hosts: new Set(hosts.map((host) => host.toLowerCase())),
    requireToken,
    callers,
    wrong: new WrongTokens(now),
    stays: new Stays({ isStill: (caller) => callers.isStill(caller), onTrouble }),
    load,
    limitRequests: limitRequests(rates, now),
    nodeBy: options.nodeBy ?? (() => null),
  });
  return {
    guard,
    store: limitAdds(store, rates, now),
    // What was done is done: a row that cannot be written must not make it look undone.
    onAnswer: (answered) =>
      writeAudit(store.records, answered, now()).catch((error: unknown) =>
        onTrouble('a row of the audit could not be written', error),
      ),
    loginCode: () => makeLoginCode(store.records, now()),
    stop: () => load.stop(),
  };
}
