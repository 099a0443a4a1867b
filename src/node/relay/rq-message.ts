/** A job as a message of RQ, for a relay to an RQ host. Pure. */
import { RelayFailure } from './relay-failure.ts';
import type { RelayedJob } from './relay-messages.ts';

/** The fields that RQ's own relay sends on, beside `dest`, `count` and `orig_msg_id`. */
const FIELDS = ['src', 'max_count', 'param1', 'param2', 'param3', 'param4', 'post_run_webhook'] as const;
/** RQ's relay gives up a message whose count is greater. */
const LARGEST_COUNT = 15;

/**
 * A job that was such a message keeps its fields; for any other job the data become `param1`. `count` grows with each
 * relay, in RQ as here, and ends a loop through hosts of both kinds.
 */
export function rqMessage({ data, queue, origin, hops }: RelayedJob, base: string): Readonly<Record<string, unknown>> {
  const given: unknown = JSON.parse(data);
  const fields = isMessage(given) ? given : { param1: data };
  const before = typeof fields['count'] === 'number' ? fields['count'] : 0;
  if (before > LARGEST_COUNT)
    throw new RelayFailure('loop', `relay loop detected: the count of the message is ${before}, over ${LARGEST_COUNT}`);
  const kept = FIELDS.flatMap((name) => (name in fields ? [[name, fields[name]]] : []));
  return { ...Object.fromEntries(kept), dest: `${base}q/${queue}`, count: before + hops, orig_msg_id: origin };
}

function isMessage(given: unknown): given is Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  return 'dest' in given || FIELDS.some((name) => name in given);
}
