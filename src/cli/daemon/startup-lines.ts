/**
 * The first log lines of a node: its addresses and paths, and the next commands. The commands work in another terminal and
 * another directory, so they contain full paths where necessary. A log in JSON has one record instead.
 */
import { realpathSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Home } from '../../node/home.ts';
import { SAMPLE_QUEUE } from '../../node/make-home.ts';

export interface NodeInfo {
  readonly home: Home;
  readonly store: string;
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  readonly url: string;
  readonly queues: ReadonlyMap<string, string | null>;
}

export interface ShellInfo {
  /** The running program, and the PATH of the shell. */
  readonly program: string;
  readonly path: string;
  /** An id for the first job. */
  readonly jobId: string;
}

/** Returns the fields of the one record that a log in JSON has instead of the lines. */
export function startupRecord(node: NodeInfo): Readonly<Record<string, unknown>> {
  const queues = Object.fromEntries([...node.queues].map(([queue, problem]) => [queue, problem ?? 'ready']));
  return { home: node.home.root, url: node.url, listening: listeningOn(node), store: storeName(node), queues };
}

function listeningOn({ home, addresses }: NodeInfo): readonly string[] {
  const tcp = addresses.map(({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`));
  return [...tcp, join(home.root, 'node.sock')];
}

const storeName = ({ home, store }: NodeInfo): string => (store === home.root ? home.database : redactPassword(store));

export function startupLines(node: NodeInfo, shell: ShellInfo): readonly string[] {
  const { home, url, queues } = node;
  return [
    `longhaul serves ${home.root}`,
    `  web UI and API  ${url}`,
    `  listening on    ${listeningOn(node).join(', ')}`,
    `  store           ${storeName(node)}`,
    `  queues          ${home.queues}`,
    ...[...queues].map(([queue, problem]) => `queue ${queue}${problem === null ? '' : `: ${problem}`}`),
    ...(queues.size === 0 ? [`no queues yet: put an executable file into ${home.queues}`] : []),
    ...nextSteps(node, shell),
  ];
}

function nextSteps({ home, queues, url }: NodeInfo, { program, path, jobId }: ShellInfo): readonly string[] {
  const queue = queues.has(SAMPLE_QUEUE) ? SAMPLE_QUEUE : [...queues.keys()][0];
  if (queue === undefined) return [];
  const longhaul = isOnPath(program, path) ? 'longhaul' : `node ${quoted(resolve(program))}`;
  const at = `--home ${quoted(home.root)}`;
  return [
    'try in another terminal:',
    `  ${longhaul} add ${queue} --id ${jobId} ${at}`,
    `  ${longhaul} logs -f ${jobId} ${at}`,
    `  ${longhaul} ls ${at}`,
    `or open ${url}`,
  ];
}

function isOnPath(program: string, path: string): boolean {
  const real = realOf(program);
  return path.split(delimiter).some((directory) => directory !== '' && realOf(join(directory, 'longhaul')) === real);
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export const redactPassword = (address: string): string =>
  address.replace(/:\/\/[^@/]*@/, '://…@').replace(/([?&]sentinelPassword=)[^&]*/, '$1…');
