/**
 * The trace context of a job: the text of W3C Trace Context (`traceparent`), kept in its policy. Every store keeps the
 * policy as it is, so a job carries its context through stores, relays and HTTP without a column of its own. Pure.
 */
import { text } from '../input/check.ts';
import type { NewJob } from '../ports/job-store.ts';
import type { Job } from './job.ts';

/** Version, trace id, span id and flags; neither id may be all zeros. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Checks a trace context that a caller gave. */
export const traceparentText = text({
  max: 55,
  pattern: TRACEPARENT,
  must: 'must be a W3C trace context such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
});

/** Returns the trace context in a header or a variable, or undefined if there is no valid one: W3C says to ignore it. */
export function readTraceparent(given: unknown): string | undefined {
  return typeof given === 'string' && TRACEPARENT.test(given) ? given : undefined;
}

/** Returns a job to add with a trace context, unless it has one. */
export function withTraceparent(job: NewJob, traceparent: string | undefined): NewJob {
  if (traceparent === undefined || job.policy?.traceparent !== undefined) return job;
  return { ...job, policy: { ...job.policy, traceparent } };
}

/** Returns a job as an attempt sees it: what the attempt causes belongs to this context. */
export function inTrace<Of extends Job>(job: Of, traceparent: string | undefined): Of {
  return traceparent === undefined ? job : { ...job, policy: { ...job.policy, traceparent } };
}
