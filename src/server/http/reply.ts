/** The answer of a route, as data; write-reply.ts sends it. */
import type { Readable } from 'node:stream';
import type { EventStream } from '../streams/event-stream.ts';

export type ReplyBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly stream: Readable }
  /** Server-sent events: `run` sends them until it resolves or the signal of the stream aborts. */
  | { readonly kind: 'events'; readonly run: (stream: EventStream) => void | Promise<void> };

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

export function json(value: unknown, status = 200): Reply {
  return { status, body: { kind: 'json', value } };
}

export function text(content: string, type = 'text/plain; charset=utf-8'): Reply {
  return { status: 200, headers: { 'content-type': type }, body: { kind: 'text', text: content } };
}

export function events(run: (stream: EventStream) => void | Promise<void>): Reply {
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: { kind: 'events', run } };
}
