/**
 * What `longhaul serve` is told, from four places: the command line, the environment, node.json, and what is usual. The
 * first that says something wins, and is named when it turns out to be wrong.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { oneOf } from '../../core/input/check.ts';
import type { Home } from '../../node/home.ts';
import { type DaemonFile, DEFAULT_PORT, daemonFile, LOG_FORMATS, type LogFormat } from '../../node/node-settings.ts';
import type { Call } from '../table/call.ts';
import { homeOf, UsageError } from '../table/command.ts';
import { withoutPassword } from './serve-lines.ts';

export interface ServeSettings {
  readonly home: Home;
  /** 0: any that is free. */
  readonly port: number;
  /** Addresses to listen on. */
  readonly listen: readonly string[];
  /** The option that said so, as its user knows it. */
  readonly listenOption: string;
  readonly store: string;
  readonly isStrict: boolean;
  readonly logFormat: LogFormat;
  readonly requireToken: boolean;
  readonly rates: DaemonFile['rates'];
}

export const LOOPBACK = ['127.0.0.1', '::1'] as const;
type Environment = Readonly<Record<string, string | undefined>>;

/** One setting as text, and where it was said. */
interface Said {
  readonly option: string;
  readonly text: string;
}

export function serveSettings(call: Call, env: Environment, isTerminal: boolean): ServeSettings {
  const home = homeOf(call.text('home'));
  const file = daemonFile(readIfThere(home.settings));
  const said = (name: string, inFile: string | null | undefined, flag = call.text(name)): Said | null =>
    firstSaid(name, { flag, env, inFile });
  const addresses = call.list('listen');
  const listen = said('listen', file.listen?.join(','), addresses.length === 0 ? undefined : addresses.join(','));
  const format = said('log-format', file.logFormat);
  const strict = said('strict', file.strict?.toString(), call.flag('strict') ? '1' : undefined);
  const token = said('require-token', file.requireToken?.toString(), call.flag('require-token') ? '1' : undefined);
  return {
    home,
    requireToken: token !== null && toFlag(token),
    rates: file.rates,
    port: toPort(said('port', file.port?.toString())),
    listen: listen === null ? LOOPBACK : toAddresses(listen),
    listenOption: listen?.option ?? '--listen',
    store: toStore(said('store', file.store)) ?? home.root,
    isStrict: strict !== null && toFlag(strict),
    logFormat: format === null ? (isTerminal ? 'pretty' : 'json') : toFormat(format),
  };
}

interface Places {
  readonly flag: string | undefined;
  readonly env: Environment;
  readonly inFile: string | null | undefined;
}

function firstSaid(name: string, { flag, env, inFile }: Places): Said | null {
  if (flag !== undefined) return { option: `--${name}`, text: flag };
  const variable = `LONGHAUL_${name.toUpperCase().replaceAll('-', '_')}`;
  const inEnv = env[variable];
  if (inEnv !== undefined && inEnv !== '') return { option: variable, text: inEnv };
  const key = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return inFile === null || inFile === undefined ? null : { option: `"${key}" in node.json`, text: inFile };
}

function toPort(said: Said | null): number {
  if (said === null) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(said.text) ? Number(said.text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new UsageError(`${said.option} must be a port from 0 to 65535, not ${JSON.stringify(said.text)}`);
}

/** What a node stands on must be its own, or shared by nodes that know each other: behind another node's API it is neither. */
function toStore(said: Said | null): string | null {
  if (said === null || !/^(https?|unix):/i.test(said.text)) return said?.text ?? null;
  throw new UsageError(
    `${said.option} ${withoutPassword(said.text)}: a node cannot work on the store of another node through its API; ` +
      'to share queues, give both the same redis:// address; to send jobs there, longhaul add http://HOST:PORT/q/QUEUE',
  );
}

function toAddresses({ option, text }: Said): readonly string[] {
  const addresses = text.split(',').map((address) => address.trim().replace(/^\[(.*)\]$/, '$1'));
  const wrong = addresses.find((address) => isIP(address) === 0 && address !== 'localhost');
  if (wrong !== undefined)
    throw new UsageError(`${option} must be addresses such as 127.0.0.1, ::1 or 0.0.0.0, not ${JSON.stringify(wrong)}`);
  return [...new Set(addresses.flatMap((address) => (address === 'localhost' ? LOOPBACK : [address])))];
}

function toFlag({ option, text }: Said): boolean {
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw new UsageError(`${option} must be 1 or 0, not ${JSON.stringify(text)}`);
}

function toFormat({ option, text }: Said): LogFormat {
  const check = oneOf(...LOG_FORMATS);
  return check(
    text,
    (_path, message) => {
      throw new UsageError(`${option} ${message}`);
    },
    '',
  );
}

export const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.');

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
