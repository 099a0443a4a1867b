/** Ports that are free when they are looked at and taken when they are wanted: real sockets on this machine. */
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { listenOnTcp } from '../../server/http/listen.ts';
import type { Reachable } from './port-holder.ts';
import { openWhereFree, reachableAt } from './port-holder.ts';

const listen = ['127.0.0.1'];
const open: Server[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await new Promise((resolve) => server.close(resolve));
});

async function listenAt({ port }: Reachable): Promise<number> {
  const server = createServer();
  await listenOnTcp(server, '127.0.0.1', port);
  open.push(server);
  return port;
}

it('Where any port will do, one that was taken since it was found free is changed for another.', async () => {
  const found = await reachableAt(listen, 0);
  await listenAt(found);
  const tried: number[] = [];
  const port = await openWhereFree({ listen, port: 0 }, found, (where) => {
    tried.push(where.port);
    return listenAt(where);
  });
  expect(tried[0]).toBe(found.port);
  expect(tried.slice(1)).toEqual([port]);
});

it('A port that was asked for is never changed, and whoever has it is named.', async () => {
  const found = await reachableAt(listen, 0);
  await listenAt(found);
  await expect(openWhereFree({ listen, port: found.port }, found, listenAt)).rejects.toThrow(
    'another process listens there already',
  );
  await expect(reachableAt(listen, found.port)).rejects.toThrow(`process ${process.pid}`);
});

it('What has nothing to do with ports is tried once.', async () => {
  let tries = 0;
  const broken = openWhereFree({ listen, port: 0 }, { listen, port: 1 }, () => {
    tries += 1;
    return Promise.reject(new Error('broken'));
  });
  await expect(broken).rejects.toThrow('broken');
  expect(tries).toBe(1);
});
