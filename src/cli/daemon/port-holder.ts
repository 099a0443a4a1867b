/** Whether a port is free, and who has it if it is not: asked before anything is opened, so that nothing has to be undone. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { UsageError } from '../table/command.ts';

export interface Reachable {
  readonly port: number;
  /** Without ::1 on a machine that has none. */
  readonly listen: readonly string[];
}

/** How often another port is tried where any will do. */
const MOST_TRIES = 10;

/** The port itself, or a free one where 0 was asked for. Throws when somebody has it. */
export function reachableAt(addresses: readonly string[], wanted: number): Promise<Reachable> {
  return untilFree(wanted, () => findPort(addresses, wanted));
}

/** Opens there. Where any port will do and this one was taken since it was found free, on another. */
export async function openWhereFree<T>(
  { listen, port }: { listen: readonly string[]; port: number },
  found: Reachable,
  open: (where: Reachable) => Promise<T>,
): Promise<T> {
  let where: Reachable | null = found;
  return untilFree(port, async () => {
    const place: Reachable = where ?? (await findPort(listen, port));
    where = null;
    return open(place);
  });
}

/** Between two calls of ours anybody may take what we saw free: that is an error only where that port was asked for. */
async function untilFree<T>(wanted: number, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (wanted !== 0 || !isPortTaken(error) || tries === MOST_TRIES) throw error;
    }
  }
}

/** Not of a socket with a path, which has no port. */
function isPortTaken(error: unknown): boolean {
  const { code, port } = ((error as Error).cause ?? {}) as { code?: string; port?: number };
  return code === 'EADDRINUSE' && port !== undefined && port >= 0;
}

/** The first address says which; the others must have it too. */
async function findPort(addresses: readonly string[], wanted: number): Promise<Reachable> {
  let port = wanted;
  const listen: string[] = [];
  for (const host of addresses) {
    const given = await tryPort(host, port);
    if (given !== null) listen.push(host);
    port = given ?? port;
  }
  return { port, listen };
}

/** Null when the machine has no such address, and need not have it. */
function tryPort(host: string, port: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (isMissing(error, host)) resolve(null);
      else reject(whyNot(error, host, port));
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

function whyNot(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const where = `port ${port} of ${host}`;
  if (error.code === 'EADDRINUSE') {
    const holder = holderOf(port);
    const who = holder === null ? 'somebody listens there already' : `${holder} listens there`;
    return new UsageError(`${where} is taken: ${who}; stop it, or name another port: --port ${port + 1}`, {
      cause: error,
    });
  }
  if (error.code === 'EACCES')
    return new UsageError(`${where} may not be used by this user; name one above 1023: --port 3333`);
  if (error.code === 'EADDRNOTAVAIL') return new UsageError(`this machine has no address ${host}: look at --listen`);
  return error;
}

const LISTENING = '0A';

/** By name and pid, as /proc tells; null where it does not, or the process is another user's. */
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
  const folder = `/proc/${pid}/fd`;
  return entries(folder).some((name) => inodes.has(/^socket:\[(\d+)\]$/.exec(link(`${folder}/${name}`))?.[1] ?? ''));
}

const orElse = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    return otherwise; // gone, or another user's
  }
};
const entries = (folder: string): readonly string[] => orElse(() => readdirSync(folder), []);
const link = (path: string): string => orElse(() => readlinkSync(path), '');
const readText = (path: string): string => orElse(() => readFileSync(path, 'latin1'), '');
