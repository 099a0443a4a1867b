/**
 * A store at a time that the caller gives: adds this time to the options of every call. So commands that are written for
 * the ports use the caller's clock.
 */
import type { Store } from '../../core/ports/store.ts';

/** The number of arguments before the options of a call; of all other calls, one. */
const PLACES: Readonly<Record<string, number>> = { workers: 0, get: 2 };

export function storeAt(store: Store, nowMs: number): Store {
  return {
    jobs: dated(store.jobs, nowMs, PLACES),
    records: dated(store.records, nowMs, { ...PLACES, delete: 2 }),
    logs: dated(store.logs, nowMs, PLACES),
    migration: store.migration,
    isShared: store.isShared,
    describe: () => store.describe(),
    close: () => store.close(),
  };
}

function dated<Port extends object>(port: Port, now: number, places: Readonly<Record<string, number>>): Port {
  return new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || name === 'subscribe') return method;
      const place = places[String(name)] ?? 1;
      return (...args: unknown[]): unknown => {
        const before = Array.from({ length: place }, (_, at) => args[at]);
        return Reflect.apply(method, target, [...before, { ...(args[place] as object | undefined), now }]);
      };
    },
  });
}
