/** What the routes of both ports have in common. */
import { badInput } from '../../core/ports/errors.ts';
import type { CallOptions } from '../../core/ports/job-store.ts';
import type { ServerContext } from './context.ts';

/** A bulk call carries up to a thousand jobs with their data. */
export const BULK_LIMIT = 32 * 1024 * 1024;

/** Nobody sets the clock of a store that has its own. */
export function callOptions({ clock }: ServerContext, now: number | undefined): CallOptions {
  if (now === undefined) return {};
  if (clock !== 'store') return { now };
  throw badInput('request', [{ path: 'now', message: 'is not taken: this store goes by its own clock' }]);
}
