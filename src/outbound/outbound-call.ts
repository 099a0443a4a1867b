/** What a call to another machine is made of and what comes of it. Words alone; outbound.ts makes the call. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Pacer } from './pacer.ts';

export interface OutboundCall {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | UploadBody;
  readonly signal?: AbortSignal;
  readonly times?: Partial<OutboundTimes>;
  /** What more is sent is not read: the call ends as `too-large`. */
  readonly maxAnswerBytes?: number;
}

/** A body that is read as it is sent. `open` is asked once the connection stands. */
export interface UploadBody {
  readonly length: number;
  open(): Promise<Readable>;
  /** How fast it may go; null for as fast as it can. */
  readonly pacer: Pacer | null;
  /** Told of each piece as it goes. */
  onSent?(bytes: number): void;
}

export interface OutboundTimes {
  /** For the connection, the name and TLS included. */
  readonly connectMs: number;
  /** While a body is sent: without one byte taken by the other side. */
  readonly idleMs: number;
  /** From the end of the request to the end of the answer. */
  readonly answerMs: number;
}

export const PROBLEM_CODES = [
  'bad-address',
  'not-allowed',
  'unreachable',
  'too-slow',
  'cut',
  'too-large',
  'redirected',
  'stopped',
] as const;
export type OutboundCode = (typeof PROBLEM_CODES)[number];

export interface OutboundProblem {
  readonly code: OutboundCode;
  readonly message: string;
}

export type OutboundAnswer =
  | { readonly ok: true; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer }
  | { readonly ok: false; readonly problem: OutboundProblem };

/** Its head, and its body as it comes: whoever asked reads it to its end or destroys it. */
export type OutboundOpened =
  | { readonly ok: true; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Readable }
  | { readonly ok: false; readonly problem: OutboundProblem };

/** A call that cannot be answered in this size and time is not worth waiting for. */
export const DEFAULT_ANSWER_BYTES = 64 * 1024;
export const DEFAULT_TIMES: OutboundTimes = { connectMs: 10_000, idleMs: 30_000, answerMs: 30_000 };
