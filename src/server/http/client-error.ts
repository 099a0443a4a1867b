/**
 * Answers connections without a readable request: malformed HTTP, too large, too slow, or too many connections. They get
 * an HTTP error and are closed at once, even if the client keeps its side open.
 */
import type { Socket } from 'node:net';
import type { ProblemCode } from '../../wire/problem-details.ts';
import { problemReply } from './problem.ts';
import { SAFE_HEADERS } from './write-reply.ts';

export const MAX_HEADER_BYTES = 16 * 1024;

const CLIENT_ERRORS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers-too-large', `the headers may have at most ${MAX_HEADER_BYTES} bytes`],
  ERR_HTTP_REQUEST_TIMEOUT: ['too-slow', 'the headers did not arrive in time'],
};

export function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [code, detail] = CLIENT_ERRORS[error.code ?? ''] ?? ['bad-request', 'the request is not valid HTTP'];
  closeWith(socket, code, detail);
}

/** Sends the problem and closes the connection: a half-open one would still use a file descriptor. */
export function closeWith(socket: Socket, code: ProblemCode, detail: string): void {
  const { status, headers, body } = problemReply(code, detail);
  const content = body.kind === 'json' ? JSON.stringify(body.value) : '';
  const all = { ...SAFE_HEADERS, ...headers, 'content-length': Buffer.byteLength(content), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  // The client may reset the connection meanwhile.
  socket.on('error', () => undefined);
  socket.write([`HTTP/1.1 ${status} ${code}`, ...lines, '', content].join('\r\n'));
  socket.destroySoon();
}
