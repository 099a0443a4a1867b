/**
 * The port of a handler in an isolated process or thread: its calls become messages to the worker, which answers them
 * with its own port. A new call is one line here.
 */
import type { ErrorCode } from '../../core/ports/errors.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { HandlerPort } from '../active-job.ts';
import type { FromIsolate, PortCall, ToIsolate } from './messages.ts';

type Send = (message: FromIsolate) => void;
type Answer = Extract<ToIsolate, { kind: 'answer' | 'refusal' }>;

interface PendingCall {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls that wait for the answer of the worker. They are shared by the jobs of an isolate. */
export class RemoteCalls {
  readonly #send: Send;
  readonly #pending = new Map<number, PendingCall>();
  #last = 0;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Returns the port of one job. */
  port(own: Pick<HandlerPort, 'signal' | 'log'>): HandlerPort {
    return {
      ...own,
      parents: () => this.#ask('parents', []),
      progress: (percent, text) => this.#tell('progress', [percent, text]),
      checkpoint: (text) => this.#tell('checkpoint', [text]),
    };
  }

  receive(message: Answer): void {
    const pending = this.#pending.get(message.call);
    this.#pending.delete(message.call);
    if (message.kind === 'answer') pending?.resolve(message.value as never);
    else pending?.reject(errorOf(message));
  }

  #ask<Name extends PortCall>(name: Name, args: Parameters<HandlerPort[Name]>): ReturnType<HandlerPort[Name]> {
    this.#last += 1;
    const call = this.#last;
    const answer = new Promise<never>((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
    });
    this.#send({ kind: 'call', call, name, args });
    return answer as ReturnType<HandlerPort[Name]>;
  }

  #tell<Name extends PortCall>(name: Name, args: Parameters<HandlerPort[Name]>): void {
    this.#send({ kind: 'call', call: null, name, args });
  }
}

/** Makes a call of the handler in the worker, and sends the answer if one is expected. */
export async function answerCall(
  port: HandlerPort,
  { call, name, args }: Extract<FromIsolate, { kind: 'call' }>,
  send: (message: ToIsolate) => void,
): Promise<void> {
  try {
    const value = await (port[name] as (...given: readonly unknown[]) => unknown)(...args);
    if (call !== null) send({ kind: 'answer', call, value });
  } catch (error) {
    if (call !== null) send({ kind: 'refusal', call, ...describe(error) });
  }
}

function describe(error: unknown): { readonly message: string; readonly code: ErrorCode | null } {
  if (error instanceof LonghaulError) return { message: error.message, code: error.code };
  return { message: error instanceof Error ? error.message : String(error), code: null };
}

function errorOf({ message, code }: Extract<ToIsolate, { kind: 'refusal' }>): Error {
  return code === null ? new Error(message) : new LonghaulError(code, message);
}
