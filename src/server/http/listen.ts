/** Starts listening on TCP addresses and unix sockets, with clear error messages. */
import { chmod, rm, stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect, Server as NetServer } from 'node:net';
import { LonghaulError } from '../../core/ports/errors.ts';

export function listenOnTcp(server: Server, host: string, port: number): Promise<void> {
  return listen(server, { host, port, ipv6Only: host.includes(':') }).catch((error: unknown) => {
    throw cannotListen(`${host} port ${port}`, error);
  });
}

/** Listens on a unix socket. A stale socket file is removed; a socket on which a process answers is not. */
export async function listenOnPath(server: Server, path: string): Promise<void> {
  try {
    if (await isStale(path)) await rm(path, { force: true });
    await listen(server, { path });
    // Its directory is private already; this is a second protection.
    await chmod(path, 0o600);
  } catch (error) {
    throw cannotListen(path, error);
  }
}

/** How often the existence of the socket file is checked. */
export const SOCKET_CHECK_MS = 2_000;

export interface SocketWatch {
  /** Resolves when no check is running. */
  stop(): Promise<void>;
}

/**
 * Recreates the unix socket of a server when its file was removed. Open requests and connections are not affected: only
 * the listening handle, which has no file any more, is replaced.
 */
export function watchSocket(
  server: Server,
  path: string,
  onTrouble: (what: string, error: unknown) => void,
): SocketWatch {
  let last: Promise<void> = Promise.resolve();
  let isReported = false;
  const check = async (): Promise<void> => {
    try {
      if (await exists(path)) return;
      // The `close` of `net`, since the one of `http` would close idle connections too.
      if (server.listening) NetServer.prototype.close.call(server);
      await listenOnPath(server, path);
      isReported = false;
    } catch (error) {
      if (!isReported) onTrouble(`the socket ${path} was removed and cannot be recreated`, error);
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

function exists(path: string): Promise<boolean> {
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

function isStale(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(false);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there already',
  EACCES: 'this user has no permission to listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
};

function cannotListen(where: string, cause: unknown): LonghaulError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const reason = REASONS[code ?? ''] ?? message;
  const problem = { path: '', message: `cannot listen on ${where}: ${reason}` };
  return new LonghaulError('bad-input', problem.message, { cause, problems: [problem] });
}
