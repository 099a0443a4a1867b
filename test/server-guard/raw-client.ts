/** Raw requests that no HTTP client would send. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';

export interface RawAnswer {
  /** 0 when the connection was closed without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Place {
  readonly port?: number;
  readonly path?: string;
}

const DEADLINE_MS = 20_000;

export async function openRaw({ port, path }: Place): Promise<Socket> {
  const socket = path === undefined ? connect(port ?? 0, '127.0.0.1') : connect(path);
  // Many of these tests expect the server to close while the client still sends.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Sends a text and returns the head of the first answer, with the part of its body that arrived. */
export async function sayRaw(
  place: Place,
  text: string | Buffer,
  deadlineMs: number = DEADLINE_MS,
): Promise<RawAnswer> {
  const socket = await openRaw(place);
  try {
    socket.write(text);
    return await hearRaw(socket, deadlineMs);
  } finally {
    socket.destroy();
  }
}

/** Returns the next answer on a connection; status 0 if it closes. Rejects after a timeout. */
export function hearRaw(socket: Socket, deadlineMs: number = DEADLINE_MS): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let heard = '';
    const timer = setTimeout(() => reject(new Error(`no answer in ${deadlineMs} ms, but: ${heard}`)), deadlineMs);
    const end = (): void => {
      clearTimeout(timer);
      socket.off('data', hear);
      resolve(parsed(heard));
    };
    const hear = (chunk: Buffer): void => {
      heard += chunk.toString('latin1');
      if (isWhole(heard)) end();
    };
    socket.on('data', hear);
    socket.once('close', end);
  });
}

export async function untilClosed(socket: Socket, deadlineMs: number = DEADLINE_MS): Promise<void> {
  if (socket.closed) return;
  socket.resume();
  await once(socket, 'close', { signal: AbortSignal.timeout(deadlineMs) });
}

function isWhole(heard: string): boolean {
  const end = heard.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /^content-length: (\d+)/im.exec(heard.slice(0, end))?.[1];
  return length === undefined || heard.length - end - 4 >= Number(length);
}

function parsed(heard: string): RawAnswer {
  const [head = '', ...rest] = heard.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(first)?.[1] ?? 0),
    headers: Object.fromEntries(headers) as Record<string, string>,
    text: rest.join('\r\n\r\n'),
  };
}
