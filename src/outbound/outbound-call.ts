/** The types of a call to another machine and of its result; outbound.ts makes the call. */
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
  /** A longer answer ends the call as `too-large`; the rest is not read. */
  readonly maxAnswerBytes?: number;
}

/** A body that is streamed. `open` is called once the connection is established. */
export interface UploadBody {
  readonly length: number;
  open(): Promise<Readable>;
  /** Limits the rate; null for no limit. */
  readonly pacer: Pacer | null;
  /** Called for each chunk that is sent. */
  onSent?(bytes: number): void;
}

export interface OutboundTimes {
  /** To establish the connection, including DNS and TLS. */
  readonly connectMs: number;
  /** While a body is sent: the time in which the receiver takes no byte. */
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

/** The head of a response, and its body as a stream. The caller reads the body to its end or destroys it. */
export type OutboundOpened =
  | { readonly ok: true; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Readable }
  | { readonly ok: false; readonly problem: OutboundProblem };

/** Defaults for calls that expect a small, quick answer. */
export const DEFAULT_ANSWER_BYTES = 64 * 1024;
export const DEFAULT_TIMES: OutboundTimes = { connectMs: 10_000, idleMs: 30_000, answerMs: 30_000 };
