/**
 * Answers to connections on which no request could be read: what came is no HTTP, too large, too slow, or one too many.
 * They are told so in HTTP all the same, and closed at once, whether or not the other side closes too.
 */
import type { Socket } from 'node:net';
import type { ProblemCode } from '../../wire/problem-details.ts';
import { problemReply } from './problem.ts';
import { SAFE_HEADERS } from './write-reply.ts';

export const MAX_HEADER_BYTES = 16 * 1024;

const CLIENT_ERRORS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers-too-large', `the headers may have at most ${MAX_HEADER_BYTES} bytes`],
  ERR_HTTP_REQUEST_TIMEOUT: ['too-slow', 'the headers did not come in time'],
};

export function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [code, detail] = CLIENT_ERRORS[error.code ?? ''] ?? ['bad-request', 'this is not HTTP as it is written'];
  closeWith(socket, code, detail);
}

/** Says the problem and closes: half a connection would be a whole file. */
export function closeWith(socket: Socket, code: ProblemCode, detail: string): void {
  const { status, headers, body } = problemReply(code, detail);
  const content = body.kind === 'json' ? JSON.stringify(body.value) : '';
  const all = { ...SAFE_HEADERS, ...headers, 'content-length': Buffer.byteLength(content), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  // A reset by the other side meanwhile is no news.
  socket.on('error', () => undefined);
  socket.write([`HTTP/1.1 ${status} ${code}`, ...lines, '', content].join('\r\n'));
  socket.destroySoon();
}
