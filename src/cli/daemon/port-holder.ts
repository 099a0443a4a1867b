/** Finds a free port, or names the process that holds it. Runs before anything is opened, so that nothing must be undone. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { UsageError } from '../table/command.ts';

export interface ListenTarget {
  readonly port: number;
  /** Without ::1 on a machine without IPv6. */
  readonly listen: readonly string[];
}

/** The maximum number of ports that are tried for port 0. */
const MAX_TRIES = 10;

/** Returns the given port, or a free one for port 0. Throws if another process has the port. */
export function findListenTarget(addresses: readonly string[], wanted: number): Promise<ListenTarget> {
  return retryOtherPorts(wanted, () => findPort(addresses, wanted));
}

/** Calls `open` with the target. For port 0, tries another port if this one was taken after it was found free. */
export async function openOnFreePort<T>(
  { listen, port }: { listen: readonly string[]; port: number },
  found: ListenTarget,
  open: (target: ListenTarget) => Promise<T>,
): Promise<T> {
  let next: ListenTarget | null = found;
  return retryOtherPorts(port, async () => {
    const target: ListenTarget = next ?? (await findPort(listen, port));
    next = null;
    return open(target);
  });
}

/** Another process can take a port between the check and the open. That is an error only if the user chose the port. */
async function retryOtherPorts<T>(wanted: number, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (wanted !== 0 || !isPortTaken(error) || tries === MAX_TRIES) throw error;
    }
  }
}

/** False for a unix socket, which has no port. */
function isPortTaken(error: unknown): boolean {
  const { code, port } = ((error as Error).cause ?? {}) as { code?: string; port?: number };
  return code === 'EADDRINUSE' && port !== undefined && port >= 0;
}

/** The first address determines the port; the other addresses must have it free too. */
async function findPort(addresses: readonly string[], wanted: number): Promise<ListenTarget> {
  let port = wanted;
  const listen: string[] = [];
  for (const host of addresses) {
    const given = await tryPort(host, port);
    if (given !== null) listen.push(host);
    port = given ?? port;
  }
  return { port, listen };
}

/** Returns null if the machine lacks the address and the address is optional. */
function tryPort(host: string, port: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (isMissing(error, host)) resolve(null);
      else reject(listenError(error, host, port));
    });
    probe.listen({ host, port, ipv6Only: host.includes(':') }, () => {
      const address = probe.address();
      const given = typeof address === 'object' && address !== null ? address.port : port;
      probe.close(() => resolve(given));
    });
  });
}

/** A machine without IPv6 has no ::1. */
function isMissing({ code }: NodeJS.ErrnoException, host: string): boolean {
  return host === '::1' && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT');
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const address = `port ${port} of ${host}`;
  if (error.code === 'EADDRINUSE') {
    const holder = holderOf(port);
    const owner = holder ?? 'another process';
    return new UsageError(`${address} is in use by ${owner}: stop it, or choose another port: --port ${port + 1}`, {
      cause: error,
    });
  }
  if (error.code === 'EACCES')
    return new UsageError(`no permission to use ${address}: choose a port above 1023, such as --port 3333`);
  if (error.code === 'EADDRNOTAVAIL') return new UsageError(`this machine has no address ${host}: correct --listen`);
  return error;
}

const LISTENING = '0A';

/** Returns the pid and name of the process from /proc; null without /proc, or if the process is another user's. */
function holderOf(port: number): string | null {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => inodesIn(table, port)));
  const pid = entries('/proc').find((name) => /^\d+$/.test(name) && hasSocket(name, inodes));
  if (pid === undefined) return null;
  const name = readText(`/proc/${pid}/comm`).trim();
  return `process ${pid}${name === '' ? '' : ` (${name})`}`;
}

function inodesIn(table: string, port: number): string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readText(table)
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return rows.filter((row) => row[1]?.endsWith(end) === true && row[3] === LISTENING).map((row) => row[9] ?? '');
}

function hasSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  const fds = `/proc/${pid}/fd`;
  return entries(fds).some((name) => inodes.has(/^socket:\[(\d+)\]$/.exec(link(`${fds}/${name}`))?.[1] ?? ''));
}

const orElse = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    return otherwise; // the process ended, or belongs to another user
  }
};
const entries = (directory: string): readonly string[] => orElse(() => readdirSync(directory), []);
const link = (path: string): string => orElse(() => readlinkSync(path), '');
const readText = (path: string): string => orElse(() => readFileSync(path, 'latin1'), '');
