/** A store whose `add` is within a producer span. Every other call goes to the store as it is. */
import type { JobStore } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { Telemetry } from '../core/ports/telemetry.ts';

export function tracedStore(store: Store, telemetry: Telemetry): Store {
  const { jobs } = store;
  const add: JobStore['add'] = (list, options) => telemetry.add(list, (traced) => jobs.add(traced, options));
  return replacing(store, { jobs: replacing(jobs, { add }) });
}

/** Stores are classes with private fields, so their methods are called on the store itself. */
function replacing<Of extends object>(of: Of, parts: Partial<Of>): Of {
  return new Proxy(of, {
    get(target, name) {
      if (name in parts) return parts[name as keyof Of];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
