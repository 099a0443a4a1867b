/** RQ's frames on a unix socket: `rq1 `, the length in eight digits, a space, the body. One request a connection. */
import type { Socket } from 'node:net';

const HEAD = 13;
const MAX_BODY = 1024 * 1024;

export function frame(body: string): string {
  return `rq1 ${String(Buffer.byteLength(body)).padStart(8, '0')} ${body}`;
}

/** The body of the one frame that comes; null when what comes is none. */
export async function readFrame(socket: Socket): Promise<string | null> {
  let held = Buffer.alloc(0);
  for await (const piece of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    held = Buffer.concat([held, piece]);
    if (held.length < HEAD) continue;
    const size = /^rq1 (\d{8}) $/.exec(held.toString('latin1', 0, HEAD))?.[1];
    if (size === undefined || Number(size) > MAX_BODY) return null;
    if (held.length >= HEAD + Number(size)) return held.toString('utf8', HEAD, HEAD + Number(size));
  }
  return null;
}
