/** Ports that are free when they are checked and taken when they are opened, with real sockets. */
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { listenOnTcp } from '../../server/http/listen.ts';
import type { ListenTarget } from './port-holder.ts';
import { findListenTarget, openOnFreePort } from './port-holder.ts';

const listen = ['127.0.0.1'];
const open: Server[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await new Promise((resolve) => server.close(resolve));
});

async function listenAt({ port }: ListenTarget): Promise<number> {
  const server = createServer();
  await listenOnTcp(server, '127.0.0.1', port);
  open.push(server);
  return port;
}

it('with port 0, replaces a port that another process took after it was found free', async () => {
  const found = await findListenTarget(listen, 0);
  await listenAt(found);
  const tried: number[] = [];
  const port = await openOnFreePort({ listen, port: 0 }, found, (where) => {
    tried.push(where.port);
    return listenAt(where);
  });
  expect(tried[0]).toBe(found.port);
  expect(tried.slice(1)).toEqual([port]);
});

it('never replaces a given port, and names the process that listens on it', async () => {
  const found = await findListenTarget(listen, 0);
  await listenAt(found);
  await expect(openOnFreePort({ listen, port: found.port }, found, listenAt)).rejects.toThrow(
    'another process listens there already',
  );
  await expect(findListenTarget(listen, found.port)).rejects.toThrow(`process ${process.pid}`);
});

it('does not retry after an error that does not concern ports', async () => {
  let tries = 0;
  const broken = openOnFreePort({ listen, port: 0 }, { listen, port: 1 }, () => {
    tries += 1;
    return Promise.reject(new Error('broken'));
  });
  await expect(broken).rejects.toThrow('broken');
  expect(tries).toBe(1);
});
