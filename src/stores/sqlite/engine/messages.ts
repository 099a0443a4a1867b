/**
 * What travels between a store's users and its engine: calls in batches one way, replies and events the other.
 * Tuples and not objects where there are many, since every key is copied with every message.
 */
import type { MessagePort } from 'node:worker_threads';
import { isMigrationRead, type MigrationCall } from '../../../core/operations/migrate.ts';
import type { CallName } from '../../../core/operations/perform.ts';
import { isReadOnly } from '../../../core/operations/perform.ts';
import type { ErrorCode, Problem } from '../../../core/ports/errors.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { PackedEvents } from './packing.ts';

export type RecordCallName = 'records.get' | 'records.put' | 'records.list' | 'records.delete';
export type MovingCallName = `moving.${MigrationCall}`;
export type RequestName = CallName | RecordCallName | MovingCallName;

export function isRecordCall(name: RequestName): name is RecordCallName {
  return name.startsWith('records.');
}

export function isMovingCall(name: RequestName): name is MovingCallName {
  return name.startsWith('moving.');
}

export const migrationCall = (name: MovingCallName): MigrationCall => name.slice('moving.'.length) as MigrationCall;

/** Calls that leave no trace: they need no write lock and wait for no disk. */
export function isLook(name: RequestName): boolean {
  if (isMovingCall(name)) return isMigrationRead(migrationCall(name));
  return isRecordCall(name) ? name === 'records.get' || name === 'records.list' : isReadOnly(name);
}

export type Request = readonly [id: number, name: RequestName, argument: unknown, now: number | undefined];
/** With `problem` the call threw; without, `answer` is its answer, packed as the argument was: see packing.ts. */
export type Reply = readonly [id: number, answer: unknown, problem?: Thrown];

export type ToEngine =
  | { readonly kind: 'requests'; readonly requests: readonly Request[] }
  /** Whether this user wants to hear of events from now on. */
  | { readonly kind: 'listen'; readonly isListening: boolean }
  /** That many messages with events were taken in. */
  | { readonly kind: 'heard'; readonly messages: number }
  /** Another user, who speaks through a port of its own. */
  | { readonly kind: 'join'; readonly port: MessagePort }
  | { readonly kind: 'close' };

export type FromEngine =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly problem: Thrown }
  | { readonly kind: 'replies'; readonly replies: readonly Reply[] }
  | { readonly kind: 'events'; readonly events: readonly PackedEvents[] };

/** An error as data: classes do not survive the way between threads. */
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
