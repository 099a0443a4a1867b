/** A reader of server-sent events, like that of a browser: messages in order, and the id with which to resume. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import { eventually } from '../processes/runner-workbench.ts';

export interface Message {
  readonly id: string | null;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface StreamReader {
  readonly status: number;
  readonly messages: readonly Message[];
  /** The id of the last message that had one. */
  readonly lastId: string | null;
  readonly isOver: boolean;
  /** Returns the first matching message, received or future. */
  next(matches: (message: Message) => boolean, ms?: number): Promise<Message>;
  /** Resolves when the server has ended the stream. */
  ended(ms?: number): Promise<void>;
  /** Stops reading while the connection stays open; `resume` continues. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
}

export async function readEvents(address: Address): Promise<StreamReader> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ ...address, agent: false }, resolve)
      .on('error', reject)
      .end();
  });
  const messages: Message[] = [];
  let isOver = false;
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    const parts = (rest + text).split('\n\n');
    rest = parts.pop() ?? '';
    messages.push(...parts.map(parse).filter((message) => message !== null));
  });
  response.on('close', () => (isOver = true));
  response.on('error', () => (isOver = true));
  return {
    status: response.statusCode ?? 0,
    messages,
    get lastId() {
      return messages.findLast(({ id }) => id !== null)?.id ?? null;
    },
    get isOver() {
      return isOver;
    },
    async next(matches, ms = 30_000) {
      const found = await eventually(
        () => messages.find(matches),
        (message) => message !== undefined,
        ms,
      );
      return found as Message;
    },
    ended: async (ms = 30_000) => void (await eventually(() => isOver, Boolean, ms)),
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void response.destroy(),
  };
}

/** Returns null for a comment. */
function parse(text: string): Message | null {
  const lines = text.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line));
  const field = (name: string) => lines.find((line) => line?.[1] === name)?.[2] ?? null;
  const data = field('data');
  if (data === null) return null;
  return { id: field('id'), event: field('event') ?? 'message', data: JSON.parse(data) as Message['data'] };
}

/** Assembles the text of a log from its stream messages: a reset drops everything beyond its offset. */
export function textOf(messages: readonly Message[]): string {
  let bytes = Buffer.alloc(0);
  for (const { event, data } of messages) {
    if (event === 'reset') bytes = bytes.subarray(0, Number(data['offset']));
    if (event === 'text') {
      const offset = Number(data['offset']);
      if (offset !== bytes.length) throw new Error(`a text begins at ${offset}, not at ${bytes.length}`);
      bytes = Buffer.concat([bytes, Buffer.from(String(data['text']))]);
    }
  }
  return bytes.toString();
}
