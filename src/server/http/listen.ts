/** Starting to listen, with words for people when that cannot be. */
import { chmod, rm, stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect, Server as NetServer } from 'node:net';
import { LonghaulError } from '../../core/ports/errors.ts';

export function listenOnTcp(server: Server, host: string, port: number): Promise<void> {
  return listen(server, { host, port, ipv6Only: host.includes(':') }).catch((error: unknown) => {
    throw unable(`${host} port ${port}`, error);
  });
}

/** A socket that a dead server left behind is removed; one that somebody answers on is not ours to take. */
export async function listenOnPath(server: Server, path: string): Promise<void> {
  try {
    if (await isLeftBehind(path)) await rm(path, { force: true });
    await listen(server, { path });
    // Its folder is closed to others already; this is the second lock.
    await chmod(path, 0o600);
  } catch (error) {
    throw unable(path, error);
  }
}

/** A socket that was removed is made again within this time. */
export const SOCKET_CHECK_MS = 2_000;

export interface KeptSocket {
  /** Resolved when nothing of it is under way. */
  stop(): Promise<void>;
}

/**
 * Makes the socket of a server again when its file was removed. Requests under way go on, and so do connections: the
 * server gives up nothing but the listening handle that has no file any more.
 */
export function keepSocket(
  server: Server,
  path: string,
  onTrouble: (what: string, error: unknown) => void,
): KeptSocket {
  let last: Promise<void> = Promise.resolve();
  let isReported = false;
  const check = async (): Promise<void> => {
    try {
      if (await isThere(path)) return;
      // Of `net` and not of `http`, which would close idle connections as well.
      if (server.listening) NetServer.prototype.close.call(server);
      await listenOnPath(server, path);
      isReported = false;
    } catch (error) {
      if (!isReported) onTrouble(`the socket ${path} was removed and cannot be made again`, error);
      isReported = true;
    }
  };
  const timer = setInterval(() => {
    last = last.then(check);
  }, SOCKET_CHECK_MS).unref();
  return {
    stop() {
      clearInterval(timer);
      return last;
    },
  };
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function listen(
  server: Server,
  options: { host?: string; port?: number; path?: string; ipv6Only?: boolean },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function isLeftBehind(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(false);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there already',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
};

function unable(where: string, cause: unknown): LonghaulError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = REASONS[code ?? ''] ?? message;
  const problem = { path: '', message: `cannot listen on ${where}: ${why}` };
  return new LonghaulError('bad-input', problem.message, { cause, problems: [problem] });
}
