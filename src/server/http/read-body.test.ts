/** A request that is answered before its body is complete leaves no timer behind: a timer would keep a node from stopping. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { handlesLeftBy } from '../../../test/support/open-handles.ts';
import { openBytes } from './read-body.ts';

const LENGTH = 200 * 1024 ** 2;

/** Resolves when all received bytes were read and the reader waits for the next chunk. */
async function waitsForMore(request: IncomingMessage): Promise<void> {
  while (request.readableLength > 0 || request.listenerCount('readable') === 0) await nextTurn();
}

/** Starts a server that refuses an upload while it waits for the rest of the body, and sends such an upload. */
async function refuseUpload(): Promise<void> {
  const server = createServer((request, response) => {
    const bytes = openBytes({ request, response }, LENGTH);
    bytes.once(
      'data',
      () =>
        void waitsForMore(request).then(() => {
          bytes.destroy();
          response.writeHead(409, { connection: 'close' }).end('no');
        }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.resume();
  socket.write(`PUT / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${LENGTH}\r\n\r\nsome bytes`);
  await once(socket, 'close');
  server.close();
  await once(server, 'close');
}

it('leaves no handle of an upload that was refused while its sender was silent', async () => {
  expect(await handlesLeftBy(refuseUpload)).toEqual([]);
});
