/**
 * Maintenance by a process that uses a store only through a compat layer. Without it, expired leases and retention would
 * wait for a worker or a node. For layers whose store uses its own clock; qless's callers bring the time, so its calls run
 * maintenance themselves.
 */
import type { Store } from '../../core/ports/store.ts';
import { startMaintenance } from '../../worker/loop/maintenance.ts';

export interface LayerMaintenance {
  /** Can be called twice. No step begins after it. */
  stop(): void;
}

export interface LayerMaintenanceOptions {
  /** Receives errors of a step; the next step follows after the interval. */
  onError(error: unknown): void;
  /** Default: ten seconds. A layer with shorter leases needs a shorter interval. */
  readonly everyMs?: number;
}

/** Starts maintenance of the store until `stop`. Its timer keeps no process alive. */
export function maintainWhileOpen(store: Store, { onError, everyMs }: LayerMaintenanceOptions): LayerMaintenance {
  let isStopped = false;
  // A step that is in flight when the store is closed fails: that is no error.
  const maintenance = startMaintenance(store, (error) => (isStopped ? undefined : onError(error)), everyMs);
  return {
    stop() {
      isStopped = true;
      maintenance.stop();
    },
  };
}
