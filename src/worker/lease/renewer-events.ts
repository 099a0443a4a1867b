/** How a worker reacts to the events of its lease renewer. */
import type { RunningAttempts } from '../attempt/running-attempts.ts';
import type { StoreAvailability } from '../loop/store-availability.ts';
import type { WorkerEvent } from '../loop/worker-event.ts';
import type { LeaseRenewerEvent, RenewerListener } from './lease-renewer.ts';
import type { LeaseTable } from './lease-table.ts';

export interface RenewerEventOptions {
  readonly table: LeaseTable;
  readonly attempts: RunningAttempts;
  readonly availability: StoreAvailability;
  emit(event: WorkerEvent): void;
  /** Continues under another id: the worker was declared lost. */
  restart(): void;
}

export function renewerListener(options: RenewerEventOptions): RenewerListener {
  return (event) => handle(event, options);
}

function handle(event: LeaseRenewerEvent, options: RenewerEventOptions): void {
  const { attempts, availability, emit, restart } = options;
  switch (event.kind) {
    case 'acknowledged':
      return attempts.get(event.token)?.acknowledge(event.number);
    case 'lost':
      return loseLease(event.token, options);
    case 'cancel':
      return attempts.get(event.token)?.stop('cancel');
    case 'pause': {
      const job = attempts.get(event.token)?.job;
      return job === undefined ? undefined : emit({ type: 'pause-asked', job, isAsked: event.isAsked });
    }
    case 'worker-lost':
      return restart();
    case 'unavailable':
      return availability.failed(event.error);
    case 'available':
      return availability.answered();
    case 'blocked':
      return emit({ type: 'blocked', ms: event.ms });
    case 'trouble':
      return emit({ type: 'trouble', what: 'the lease renewer', error: event.error });
  }
}

/** The store refused the lease: it is no longer renewed, and its attempt must stop. */
function loseLease(token: number, { table, attempts }: RenewerEventOptions): void {
  const attempt = attempts.get(token);
  if (attempt === undefined) return;
  table.hide(attempt.entry);
  attempt.stop('lease-lost');
}
