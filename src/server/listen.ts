/** Starting to listen, with words for people when that cannot be. */
import { chmod, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { LonghaulError } from '../core/errors.ts';

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
