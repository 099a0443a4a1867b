/** A job as a message of RQ's: one that was such a message keeps its fields, any other job's data are its first parameter. */
import type { RelayedJob } from './relay-messages.ts';

const FIELDS = [
  'src',
  'max_count',
  'param1',
  'param2',
  'param3',
  'param4',
  'post_run_webhook',
  'force_remote',
] as const;

export function rqMessage({ data, queue, origin }: RelayedJob, base: string): Readonly<Record<string, unknown>> {
  const given: unknown = JSON.parse(data);
  const dest = `${base}q/${queue}`;
  return { ...fieldsOf(given, data), dest, count: 0, orig_msg_id: origin };
}

function fieldsOf(given: unknown, data: string): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { param1: data };
  const fields = given as Readonly<Record<string, unknown>>;
  const isMessage = FIELDS.some((name) => name in fields);
  if (!isMessage) return { param1: data };
  return Object.fromEntries(FIELDS.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
}
