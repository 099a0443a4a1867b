/** Builds a request for each route from the table, so that a new route is tested automatically. */
import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import type { Route } from '../../src/server/http/route.ts';

export interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly code: string | undefined;
}

export interface Sending {
  readonly port?: number;
  readonly socketPath?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** Values that are valid for most parameters. */
const PARTS: Readonly<Record<string, string>> = { n: '1', id: 'a'.repeat(16), queue: 'mail', name: 'file.txt' };

export const pathOf = ({ path }: Route): string =>
  path.replace(/\{([a-z]+)\}/gi, (_whole, name: string) => PARTS[name] ?? 'word');

export const typeOf = ({ body }: Route): OutgoingHttpHeaders =>
  body === null ? {} : { 'content-type': body === 'bytes' ? 'application/octet-stream' : 'application/json' };

/** Returns the status of the answer and the code of a problem, without waiting for a stream. */
export function send(route: Route, { port, socketPath, headers = {}, body }: Sending): Promise<Told> {
  const where = socketPath === undefined ? { host: '127.0.0.1', port } : { socketPath };
  return new Promise((resolve, reject) => {
    const given = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const all = { ...typeOf(route), ...given, ...headers };
    const sent = request(
      { ...where, method: route.method, path: pathOf(route), agent: false, headers: all },
      (answer) => {
        const told = { status: answer.statusCode ?? 0, headers: answer.headers };
        const isProblem = answer.headers['content-type'] === 'application/problem+json';
        const finish = (text: string): void => {
          sent.destroy();
          resolve({
            ...told,
            code: isProblem && text !== '' ? (JSON.parse(text) as { code: string }).code : undefined,
          });
        };
        if (!isProblem) return finish('');
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => finish(Buffer.concat(chunks).toString()));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
