/**
 * What the module of an isolated handler imports: `longhaul/handler`. It loads neither a store nor a worker, so that an
 * isolated process stays small.
 *
 *     export default defineHandler<{ film: string }, number>(async (job) => encode(job.data.film));
 */
import type { Handler } from './active-job.ts';

export type { ActiveJob, Handler } from './active-job.ts';
export { advance, fail, forward, release, retry } from './outcome.ts';
export { StepTimeout, Suspended } from './steps/step-errors.ts';

/** Returns the handler with the types of its data and result, as the default export of a module for `work(url)`. */
export function defineHandler<Data = unknown, Result = unknown>(handler: Handler<Data, Result>): Handler<Data, Result> {
  return handler;
}
