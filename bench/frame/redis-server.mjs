/**
 * The Redis server of a run: append-only file, fsynced every second, the same for all contenders.
 *
 * Automatic rewrites of the file are off, because one could fall into a measurement; `flush` rewrites it in between.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { freePort } from './free-port.mjs';

const startTries = 200;
const stepMs = 25;

export async function startRedis({ path, folder }) {
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'redis.conf'), config({ port, folder }));
  const launch = () => spawn(path, [join(folder, 'redis.conf')], { stdio: 'ignore' });
  let server = launch();
  let client = await connectTo(port, server);
  const halt = async () => {
    client.destroy();
    server.kill('SIGKILL');
    await (server.exitCode === null && server.signalCode === null ? once(server, 'exit') : undefined);
  };
  return {
    port,
    flush: () => flush(client),
    info: async () => parseInfo(await client.info()),
    kill: () => server.kill('SIGKILL'),
    stop: halt,
    /** Stops the server as a crash does; `restart` starts it again with its file. */
    halt,
    restart: async () => {
      server = launch();
      client = await connectTo(port, server);
    },
  };
}

const config = ({ port, folder }) =>
  [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${folder}`,
    'daemonize no',
    'save ""',
    'appendonly yes',
    'appendfsync everysec',
    'auto-aof-rewrite-percentage 0',
    '',
  ].join('\n');

async function connectTo(port, server) {
  for (let tries = 1; ; tries += 1) {
    const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } });
    client.on('error', () => {});
    try {
      return await client.connect();
    } catch (error) {
      if (tries === startTries || server.exitCode !== null) {
        throw new Error('The Redis server did not start.', { cause: error });
      }
      await sleep(stepMs);
    }
  }
}

/** Empties the store and its file, and waits until the server is idle. */
async function flush(client) {
  await client.sendCommand(['FLUSHALL', 'SYNC']);
  await client.sendCommand(['SCRIPT', 'FLUSH']);
  await client.sendCommand(['BGREWRITEAOF']);
  for (;;) {
    const info = parseInfo(await client.info('persistence'));
    if (info.aof_rewrite_in_progress === '0' && info.aof_rewrite_scheduled === '0') break;
    await sleep(stepMs);
  }
  await client.sendCommand(['MEMORY', 'PURGE']);
}

const parseInfo = (text) =>
  Object.fromEntries(
    text
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
