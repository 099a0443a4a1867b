/**
 * The messages between the clients of a store and its engine: calls in batches one way, replies and events the other.
 * Frequent parts are tuples and not objects, since every key is copied with every message.
 */
import type { MessagePort } from 'node:worker_threads';
import { isMigrationRead, type MigrationCall } from '../../../core/operations/migrate.ts';
import type { CallName } from '../../../core/operations/perform.ts';
import { isReadOnly } from '../../../core/operations/perform.ts';
import type { ErrorCode, Problem } from '../../../core/ports/errors.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { CallOptions, EventScope } from '../../../core/ports/job-store.ts';
import type { PackedEvents } from './packing.ts';

export type RecordCallName = 'records.get' | 'records.put' | 'records.list' | 'records.delete';
export type MigrationCallName = `migration.${MigrationCall}`;
export type RequestName = CallName | RecordCallName | MigrationCallName;

export function isRecordCall(name: RequestName): name is RecordCallName {
  return name.startsWith('records.');
}

export function isMigrationCall(name: RequestName): name is MigrationCallName {
  return name.startsWith('migration.');
}

export const migrationCall = (name: MigrationCallName): MigrationCall =>
  name.slice('migration.'.length) as MigrationCall;

/** Returns whether a call changes nothing: it needs no write lock and waits for no fsync. */
export function isRead(name: RequestName): boolean {
  if (isMigrationCall(name)) return isMigrationRead(migrationCall(name));
  return isRecordCall(name) ? name === 'records.get' || name === 'records.list' : isReadOnly(name);
}

/** A call as an engine performs it. */
export interface Request {
  readonly id: number;
  readonly name: RequestName;
  readonly argument: unknown;
  readonly now: number | undefined;
  readonly sync?: CallOptions['sync'];
  /** Only for a claim: how long it may wait for a job. */
  readonly waitMs?: number | undefined;
}

/** A call as it is sent, with a packed argument (packing.ts). */
export type PackedRequest = readonly [
  id: number,
  name: RequestName,
  argument: unknown,
  now: number | undefined,
  sync?: CallOptions['sync'],
  waitMs?: number | undefined,
];
/** With `problem` the call threw; without it, `answer` is the packed answer (packing.ts). */
export type Reply = readonly [id: number, answer: unknown, problem?: Thrown];

export type ToEngine =
  | { readonly kind: 'requests'; readonly requests: readonly PackedRequest[] }
  /** The claim with this number waits no longer. */
  | { readonly kind: 'withdraw'; readonly id: number }
  /** Which events this client wants from now on; null for none. */
  | { readonly kind: 'listen'; readonly scope: EventScope | null }
  /** The client has received that many messages with events. */
  | { readonly kind: 'acknowledge'; readonly messages: number }
  /** Runs a module in the engine's thread, with a port to the sender. */
  | { readonly kind: 'run'; readonly module: string; readonly port: MessagePort }
  | { readonly kind: 'close' };

export type FromEngine =
  | { readonly kind: 'opened' }
  | { readonly kind: 'failed'; readonly problem: Thrown }
  | { readonly kind: 'replies'; readonly replies: readonly Reply[] }
  | { readonly kind: 'events'; readonly events: readonly PackedEvents[] };

/** An error as data: classes are lost when a message is copied between threads. */
export interface Thrown {
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly problems: readonly Problem[];
  readonly stack: string | undefined;
}

export function toThrown(error: unknown): Thrown {
  if (error instanceof LonghaulError) {
    const { code, message, problems } = error;
    return { code, message, problems, stack: undefined };
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { code: null, message, problems: [], stack };
}

export function fromThrown({ code, message, problems, stack }: Thrown): Error {
  if (code !== null) return new LonghaulError(code, message, { problems });
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
