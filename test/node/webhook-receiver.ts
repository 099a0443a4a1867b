/**
 * A receiver of webhooks for tests: answers as its path says, and verifies every signature by the Standard Webhooks
 * specification, independently of the code that created it.
 *
 *     /ok/…   /fails/…   /hangs/…   /cuts/…   /redirects/…      the last four succeed from the third call of an id on
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly body: string;
  readonly isGenuine: boolean;
  readonly isAnswered: boolean;
  readonly headers: IncomingMessage['headers'];
}

const FAILURES = 2;

export class WebhookReceiver {
  readonly calls: Received[] = [];
  readonly #secret: string;
  readonly #server: Server;
  readonly #tries = new Map<string, number>();

  private constructor(secret: string) {
    this.#secret = secret;
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async open(secret: string): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(secret);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => receiver.close());
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The calls of one path that were answered with success, in order, each id once. */
  delivered(
    path: string,
  ): readonly { readonly type: string; readonly data: { readonly job: string; percent?: number } }[] {
    const answered = this.calls.filter((call) => call.isAnswered && call.path === path);
    return [...new Map(answered.map(({ id, body }) => [id, body])).values()].map((body) => JSON.parse(body));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { url: path = '', headers } = request;
    const id = String(headers['webhook-id']);
    const tries = (this.#tries.get(id) ?? 0) + 1;
    this.#tries.set(id, tries);
    const behaviour = tries > FAILURES ? 'ok' : path.split('/')[1];
    this.calls.push({
      path,
      id,
      body,
      headers,
      isGenuine: this.#isGenuine(headers, body),
      isAnswered: behaviour === 'ok',
    });
    answer(behaviour, response);
  }

  #isGenuine(headers: IncomingMessage['headers'], body: string): boolean {
    const key = Buffer.from(this.#secret.replace(/^whsec_/, ''), 'base64');
    const content = [headers['webhook-id'], headers['webhook-timestamp'], body].map(String).join('.');
    const expected = createHmac('sha256', key).update(content).digest();
    const isRecent = Math.abs(Date.now() / 1_000 - Number(headers['webhook-timestamp'])) < 300;
    return String(headers['webhook-signature'])
      .split(' ')
      .filter((each) => each.startsWith('v1,'))
      .map((each) => Buffer.from(each.slice(3), 'base64'))
      .some((given) => isRecent && given.length === expected.length && timingSafeEqual(given, expected));
  }
}

function answer(behaviour: string | undefined, response: ServerResponse): void {
  switch (behaviour) {
    case 'fails':
      response.writeHead(500).end();
      break;
    case 'cuts':
      response.socket?.destroy();
      break;
    case 'redirects':
      response.writeHead(302, { location: '/ok/elsewhere' }).end();
      break;
    case 'hangs':
      break;
    default:
      response.writeHead(204).end();
  }
}
