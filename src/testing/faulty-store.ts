/**
 * A store that injects faults between a real store and its caller: an error before the call, a reply that is lost after
 * it, a delay.
 *
 * Whether a call is hit depends on the seed, its name and how many calls of that name came before. Calls of timers, such
 * as heartbeats, therefore do not change which of the others are hit.
 *
 * Invariant: a call takes effect once or not at all, as the fault says. The faulty store changes no argument and no
 * answer.
 */
import { checked, duration, fraction, integer, listOf, object, text } from '../core/input/check.ts';
import { didYouMean } from '../core/input/did-you-mean.ts';
import type { Duration } from '../core/input/duration.ts';
import type { CallName } from '../core/operations/perform.ts';
import { isReadOnly } from '../core/operations/perform.ts';
import { badInput, LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';
import { newSeed, randomOf } from './seeded-random.ts';

/** Options of a faulty store. Shares are from 0 to 1. */
export interface FaultOptions {
  /** Decides which calls are hit. Default: a new one, which every injected error names. */
  seed?: number;
  /** The share of calls that fail before they reach the store, with `store-unavailable`. Default 0.05. */
  errors?: number;
  /** The share of calls that take effect and whose reply is lost: `outcome-unknown`. Default 0.05. */
  lostReplies?: number;
  /** The share of calls that are delayed. Default 0.05. */
  delays?: number;
  /** The longest delay. Default 20 ms. */
  maxDelay?: Duration;
  /** The calls that may be hit, such as `add` or `records.put`. Default: all. */
  calls?: readonly string[];
}

/** A fault that was injected. */
export interface InjectedFault {
  /** The call: `add`, `settle`, `records.put`. */
  readonly call: string;
  /** Which call of that name it was, from 1. */
  readonly number: number;
  /** What happened to it. */
  readonly fault: 'error' | 'lost-reply' | 'delay';
}

/** A store with faults. */
export interface FaultyStore extends Store {
  /** The seed of the faults. */
  readonly seed: number;
  /** The faults so far, in order. */
  readonly faults: readonly InjectedFault[];
  /** Injects nothing more. */
  heal(): void;
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;

const shape = object({
  seed: integer(0, 2 ** 32 - 1),
  errors: fraction,
  lostReplies: fraction,
  delays: fraction,
  maxDelay: duration(),
  calls: listOf(text({ max: 64 }), 100),
});
const SHARE = 0.05;
const MAX_DELAY_MS = 20;

/** Wraps a store of any kind. Leases are renewed through it, so that heartbeats are hit as well. */
export function faultyStore(store: Store, options: FaultOptions = {}): FaultyStore {
  const { errors = SHARE, lostReplies = SHARE, delays = SHARE, ...given } = checked('fault options', options, shape);
  const { seed = newSeed(), maxDelay = MAX_DELAY_MS, calls = null } = given;
  if (errors + lostReplies + delays > 1)
    throw badInput('fault options', [
      { path: '', message: 'errors, lostReplies and delays must be at most 1 together' },
    ]);
  checkCalls(store, calls);
  const faults: InjectedFault[] = [];
  const counts = new Map<string, number>();
  let isHealed = false;

  const faultOf = (draw: number): InjectedFault['fault'] | null => {
    if (draw < errors) return 'error';
    if (draw < errors + lostReplies) return 'lost-reply';
    return draw < errors + lostReplies + delays ? 'delay' : null;
  };
  const around =
    (name: string, call: Call): Call =>
    async (...args) => {
      const number = (counts.get(name) ?? 0) + 1;
      counts.set(name, number);
      const isExempt = isHealed || (calls !== null && !calls.includes(name));
      const fault = isExempt ? null : faultOf(randomOf(seed, `${name} ${number}`));
      if (fault === null) return call(...args);
      faults.push({ call: name, number, fault });
      if (fault === 'delay') await wait(randomOf(seed, `delay of ${name} ${number}`) * maxDelay);
      if (fault === 'error') throw unavailable(`call ${number} of ${name} did not reach the store (seed ${seed})`);
      const answer = await call(...args);
      if (fault === 'lost-reply')
        throw lostReply(name, `the reply to call ${number} of ${name} was lost (seed ${seed})`);
      return answer;
    };

  return {
    ...store,
    jobs: withAll(store.jobs, '', around),
    records: withAll(store.records, 'records.', around),
    logs: withAll(store.logs, 'logs.', around),
    // A thread that opened the store itself would bypass the faults.
    describe: () => null,
    seed,
    faults,
    heal: () => {
      isHealed = true;
    },
  };
}

/** The members of a port that are no calls. */
const NO_CALLS: ReadonlySet<string> = new Set(['subscribe']);

/** Returns the names of the calls of a port. They may be properties, or methods of a class. */
function callsOf(port: object): readonly string[] {
  const own = [port, Object.getPrototypeOf(port) as object].flatMap((each) => Object.getOwnPropertyNames(each));
  const isCall = (name: string): boolean =>
    name !== 'constructor' &&
    !NO_CALLS.has(name) &&
    !Object.hasOwn(Object.prototype, name) &&
    typeof (port as Readonly<Record<string, unknown>>)[name] === 'function';
  return [...new Set(own)].filter(isCall);
}

function withAll<Port extends object>(port: Port, prefix: string, around: (name: string, call: Call) => Call): Port {
  const members = port as Readonly<Record<string, Call>>;
  const wrapped = callsOf(port).map((name) => [
    name,
    around(`${prefix}${name}`, (...args) => members[name]?.(...args) as Promise<unknown>),
  ]);
  const kept = [...NO_CALLS].filter((name) => name in port).map((name) => [name, members[name]?.bind(port)]);
  return Object.fromEntries([...wrapped, ...kept]) as Port;
}

function checkCalls(store: Store, calls: readonly string[] | null): void {
  const prefixed = (prefix: string, port: object) => callsOf(port).map((name) => `${prefix}${name}`);
  const known = [...prefixed('', store.jobs), ...prefixed('records.', store.records), ...prefixed('logs.', store.logs)];
  const unknown = (calls ?? []).filter((name) => !known.includes(name));
  const problems = unknown.map((name) => ({
    path: 'calls',
    message: `${JSON.stringify(name)} is no call of a store${didYouMean(name, known)}`,
  }));
  if (problems.length > 0) throw badInput('fault options', problems);
}

const READS: ReadonlySet<string> = new Set(['records.get', 'records.list', 'logs.read']);

/** A read has no outcome that could be unknown: stores answer `store-unavailable`. */
function lostReply(name: string, message: string): LonghaulError {
  const isRead = READS.has(name) || (!name.includes('.') && isReadOnly(name as CallName));
  return isRead ? unavailable(message) : new LonghaulError('outcome-unknown', `injected fault: ${message}`);
}

function unavailable(message: string): LonghaulError {
  return new LonghaulError('store-unavailable', `injected fault: ${message}`);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
