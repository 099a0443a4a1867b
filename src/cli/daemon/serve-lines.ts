/**
 * The first lines of a node: where everything is, and what to type next. The commands work as they stand, in another
 * terminal and another folder: whatever the shell there does not know is spelled out.
 */
import { realpathSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Home } from '../../node/home.ts';
import { SAMPLE_QUEUE } from '../../node/make-home.ts';

export interface Whereabouts {
  readonly home: Home;
  readonly store: string;
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  readonly url: string;
  readonly queues: ReadonlyMap<string, string | null>;
}

export interface Typing {
  /** The file that runs now, and the folders in which a shell looks for commands. */
  readonly program: string;
  readonly path: string;
  /** An id for the first job. */
  readonly jobId: string;
}

export function startLines(where: Whereabouts, typing: Typing): readonly string[] {
  const { home, store, addresses, url, queues } = where;
  const listens = addresses.map(({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`));
  return [
    `longhaul serves ${home.root}`,
    `  page and API  ${url}`,
    `  listens on    ${[...listens, join(home.root, 'node.sock')].join(', ')}`,
    `  store         ${store === home.root ? home.database : withoutPassword(store)}`,
    `  queues        ${home.queues}`,
    ...[...queues].map(([queue, problem]) => `queue ${queue}${problem === null ? '' : `: ${problem}`}`),
    ...(queues.size === 0 ? [`no queues yet: put an executable file into ${home.queues}`] : []),
    ...nextSteps(where, typing),
  ];
}

function nextSteps({ home, queues, url }: Whereabouts, { program, path, jobId }: Typing): readonly string[] {
  const queue = queues.has(SAMPLE_QUEUE) ? SAMPLE_QUEUE : [...queues.keys()][0];
  if (queue === undefined) return [];
  const longhaul = isOnPath(program, path) ? 'longhaul' : `node ${quoted(resolve(program))}`;
  const at = `--home ${quoted(home.root)}`;
  return [
    'next, in another terminal:',
    `  ${longhaul} add ${queue} --id ${jobId} ${at}`,
    `  ${longhaul} logs -f ${jobId} ${at}`,
    `  ${longhaul} ls ${at}`,
    `or open ${url}`,
  ];
}

function isOnPath(program: string, path: string): boolean {
  const real = realOf(program);
  return path.split(delimiter).some((folder) => folder !== '' && realOf(join(folder, 'longhaul')) === real);
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** For a POSIX shell. */
const quoted = (word: string): string => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

export const withoutPassword = (address: string): string =>
  address.replace(/:\/\/[^@/]*@/, '://…@').replace(/([?&]sentinelPassword=)[^&]*/, '$1…');
