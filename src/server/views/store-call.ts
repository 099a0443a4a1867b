/** Shared by the routes of both store ports. */
import { badInput } from '../../core/ports/errors.ts';
import type { CallOptions } from '../../core/ports/job-store.ts';
import type { ServerContext } from './context.ts';

/** The body limit of calls with up to a thousand jobs and their data. */
export const BULK_LIMIT = 32 * 1024 * 1024;

/** Returns the options of a call. A store with its own clock refuses the caller's time. */
export function callOptions({ clock }: ServerContext, now: number | undefined): CallOptions {
  if (now === undefined) return {};
  if (clock !== 'store') return { now };
  throw badInput('request', [{ path: 'now', message: 'is not accepted: this store uses its own clock' }]);
}
