/**
 * A store at one moment of the caller's: every call that goes through it carries that time. So `now` is honoured by
 * whatever is built over the ports, and nothing in this door has to think of it.
 */
import type { Store } from '../../core/ports/store.ts';

/** How many arguments stand before the options of a call, where it is not one. */
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
