/**
 * Access control of a server: the guard, the audit log, and the store with rate limits.
 *
 *     const access = openAccess({ store, now, hosts, requireToken, onTrouble });
 *     openServer({ context: { store: access.store, … }, guard: access.guard, onAnswer: access.onAnswer, … });
 */
import type { Store } from '../../core/ports/store.ts';
import type { Answered } from '../http/dispatch.ts';
import type { OverloadLimits } from '../http/overload.ts';
import { Overload } from '../http/overload.ts';
import { OpenStreams } from '../streams/open-streams.ts';
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
  /** Host names that this server serves in addition to the loopback names, without a port. */
  readonly hosts?: readonly string[];
  /** Requires a token on the loopback too. Other addresses always require one. */
  readonly requireToken?: boolean;
  readonly rates?: RateLimits;
  readonly overload?: Partial<OverloadLimits>;
  /** Authenticates other nodes of the store; without it, no node is admitted. */
  readonly nodeBy?: GuardParts['nodeBy'];
  onTrouble(what: string, error: unknown): void;
}

export interface Access {
  readonly guard: Guard;
  /** The store for the routes, with rate limits. */
  readonly store: Store;
  /** Writes an audit row if the route is audited. */
  onAnswer(answered: Answered): Promise<void>;
  /** Creates a code for the link `/login#<code>` that is printed at start: valid for one admin login within an hour. */
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
    streams: new OpenStreams({ isValid: (caller) => callers.isValid(caller), onTrouble }),
    load,
    limitRequests: limitRequests(rates, now),
    nodeBy: options.nodeBy ?? (() => null),
  });
  return {
    guard,
    store: limitAdds(store, rates, now),
    // The operation has taken effect: a failure to write its row must not turn it into an error.
    onAnswer: (answered) =>
      writeAudit(store, answered, now()).catch((error: unknown) => onTrouble('cannot write an audit row', error)),
    loginCode: () => makeLoginCode(store.records, now()),
    stop: () => load.stop(),
  };
}
