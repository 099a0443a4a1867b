/**
 * Calls between a worker and an isolate, as messages, for the time of one job. Either end calls functions of the other by
 * name (`parents`, `files.list`). Arguments and answers may be whatever can be cloned, URLs, and streams: these are read
 * piece by piece, when the other end asks for the next piece.
 *
 * Invariant: a message of another job is ignored. A handler that goes on after its end cannot act on the next job.
 */
import type { ErrorCode } from '../../core/ports/errors.ts';
import { LonghaulError } from '../../core/ports/errors.ts';

/** An argument or an answer as it is sent. */
type Passed =
  | { readonly as: 'value'; readonly value: unknown }
  | { readonly as: 'url'; readonly href: string }
  | { readonly as: 'stream'; readonly stream: number };

export type CallMessage =
  /** `call` is null when no answer is expected. */
  | {
      readonly kind: 'call';
      readonly run: number;
      readonly call: number | null;
      readonly name: string;
      readonly args: readonly Passed[];
    }
  | { readonly kind: 'answer'; readonly run: number; readonly call: number; readonly value: Passed }
  | {
      readonly kind: 'refusal';
      readonly run: number;
      readonly call: number;
      readonly message: string;
      readonly code: ErrorCode | null;
    };

export interface CallLinkOptions {
  /** The number of the job among those of the isolate. */
  readonly run: number;
  send(message: CallMessage): void;
  /** The object whose functions the other end may call. */
  readonly target: object;
}

interface PendingCall {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

const NEXT_PIECE = 'next piece';
const END_STREAM = 'end stream';

export class CallLink {
  readonly #options: CallLinkOptions;
  readonly #pending = new Map<number, PendingCall>();
  /** Streams of this end that the other end reads. */
  readonly #streams = new Map<number, AsyncIterator<unknown>>();
  #last = 0;
  #isOver = false;

  constructor(options: CallLinkOptions) {
    this.#options = options;
  }

  /** Calls a function of the other end and returns its answer. */
  ask<Answer>(name: string, ...args: readonly unknown[]): Promise<Answer> {
    const call = this.#next();
    const answer = new Promise<Answer>((resolve, reject) => {
      if (this.#isOver) reject(new Error('the job has ended'));
      this.#pending.set(call, { resolve, reject });
    });
    this.#send({ kind: 'call', run: this.#options.run, call, name, args: args.map((each) => this.#pass(each)) });
    return answer;
  }

  /** Calls a function of the other end that has no answer. */
  tell(name: string, ...args: readonly unknown[]): void {
    this.#send({ kind: 'call', run: this.#options.run, call: null, name, args: args.map((each) => this.#pass(each)) });
  }

  receive(message: CallMessage): void {
    if (message.run !== this.#options.run || this.#isOver) return;
    if (message.kind === 'call') return void this.#perform(message);
    const pending = this.#pending.get(message.call);
    this.#pending.delete(message.call);
    if (message.kind === 'answer') pending?.resolve(this.#received(message.value) as never);
    else pending?.reject(errorOf(message));
  }

  /** Ends with the job: open calls are rejected, and open streams are closed. */
  end(): void {
    this.#isOver = true;
    for (const { reject } of this.#pending.values()) reject(new Error('the job has ended'));
    for (const stream of this.#streams.values()) void stream.return?.().catch(() => undefined);
    this.#pending.clear();
    this.#streams.clear();
  }

  async #perform({ call, name, args }: Extract<CallMessage, { kind: 'call' }>): Promise<void> {
    const { run } = this.#options;
    try {
      const value = await this.#call(
        name,
        args.map((each) => this.#received(each)),
      );
      if (call !== null) this.#send({ kind: 'answer', run, call, value: this.#pass(value) });
    } catch (error) {
      if (call !== null) this.#send({ kind: 'refusal', run, call, ...describe(error) });
    }
  }

  #call(name: string, args: readonly unknown[]): unknown {
    if (name === NEXT_PIECE) return this.#streams.get(args[0] as number)?.next() ?? { done: true };
    if (name === END_STREAM) return this.#streams.get(args[0] as number)?.return?.();
    const path = name.split('.');
    const last = path.pop() ?? '';
    let owner = this.#options.target as Readonly<Record<string, unknown>>;
    for (const part of path) owner = owner[part] as Readonly<Record<string, unknown>>;
    const called = owner[last];
    if (typeof called !== 'function') throw new Error(`the worker has no call ${name}`);
    return called.apply(owner, [...args]) as unknown;
  }

  /** A message after the end of the job has no receiver. */
  #send(message: CallMessage): void {
    if (!this.#isOver) this.#options.send(message);
  }

  #pass(value: unknown): Passed {
    if (value instanceof URL) return { as: 'url', href: value.href };
    if (!isStream(value)) return { as: 'value', value };
    const stream = this.#next();
    this.#streams.set(stream, value[Symbol.asyncIterator]());
    return { as: 'stream', stream };
  }

  #received(passed: Passed): unknown {
    if (passed.as === 'value') return passed.value;
    return passed.as === 'url' ? new URL(passed.href) : this.#remoteStream(passed.stream);
  }

  #remoteStream(stream: number): AsyncIterable<unknown> {
    const next = (): Promise<IteratorResult<unknown>> => this.ask(NEXT_PIECE, stream);
    const end = async (): Promise<IteratorResult<unknown>> => {
      this.tell(END_STREAM, stream);
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
  }

  #next(): number {
    this.#last += 1;
    return this.#last;
  }
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function describe(error: unknown): { readonly message: string; readonly code: ErrorCode | null } {
  if (error instanceof LonghaulError) return { message: error.message, code: error.code };
  return { message: error instanceof Error ? error.message : String(error), code: null };
}

function errorOf({ message, code }: Extract<CallMessage, { kind: 'refusal' }>): Error {
  return code === null ? new Error(message) : new LonghaulError(code, message);
}
