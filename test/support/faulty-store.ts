/**
 * A real store with faults between it and its caller: a call may be refused before it is made, lose its reply after it
 * was made, or hang before or after it is made until it is released.
 */

import type { CallName } from '../../src/core/operations/perform.ts';
import { LonghaulError } from '../../src/core/ports/errors.ts';
import type { JobStore } from '../../src/core/ports/job-store.ts';
import type { Store } from '../../src/core/ports/store.ts';

export type Fault = 'unavailable' | 'lost-reply' | 'hang' | 'late-reply';

export interface FaultyStore extends Store {
  /** Every call so far, in order, with its argument. */
  readonly calls: readonly { readonly name: string; readonly argument: unknown }[];
  /** Injects the fault into the next calls of this name: the given number, or all until `heal`. */
  break(names: readonly CallName[], fault: Fault, times?: number): void;
  heal(): void;
  callsOf(name: CallName): readonly unknown[];
}

interface Broken {
  readonly fault: Fault;
  left: number;
}

export function faultyStore(store: Store): FaultyStore {
  const calls: { name: string; argument: unknown }[] = [];
  const broken = new Map<string, Broken>();
  const hanging: (() => void)[] = [];

  const around =
    (name: string, call: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]): Promise<unknown> => {
      calls.push({ name, argument: args[0] });
      const found = broken.get(name);
      if (found === undefined || found.left <= 0) return await call(...args);
      found.left -= 1;
      if (found.fault === 'unavailable') throw new LonghaulError('store-unavailable', 'injected fault: not done');
      if (found.fault === 'hang') await new Promise<void>((resolve) => hanging.push(resolve));
      const answer = await call(...args);
      if (found.fault === 'hang') return answer;
      if (found.fault === 'late-reply') {
        await new Promise<void>((resolve) => hanging.push(resolve));
        return answer;
      }
      throw new LonghaulError('outcome-unknown', 'injected fault: the reply is lost');
    };

  const jobs = Object.fromEntries(
    Object.entries(store.jobs).map(([name, call]) => [
      name,
      name === 'subscribe' ? call : around(name, call as (...args: unknown[]) => Promise<unknown>),
    ]),
  ) as unknown as JobStore;

  return {
    ...store,
    jobs,
    calls,
    break: (names, fault, times = Number.POSITIVE_INFINITY) => {
      for (const name of names) broken.set(name, { fault, left: times });
    },
    heal: () => {
      broken.clear();
      for (const letGo of hanging.splice(0)) letGo();
    },
    callsOf: (name) => calls.filter((call) => call.name === name).map((call) => call.argument),
  };
}
