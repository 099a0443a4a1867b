/**
 * The settings of `longhaul serve`, from four sources: command line, environment, node.json, defaults. The first source
 * with a value wins; error messages name it.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { oneOf } from '../../core/input/check.ts';
import type { Home } from '../../node/home.ts';
import { type DaemonFile, DEFAULT_PORT, daemonFile, LOG_FORMATS, type LogFormat } from '../../node/node-settings.ts';
import type { Args } from '../table/args.ts';
import { homeOf, UsageError } from '../table/command.ts';
import { redactPassword } from './startup-lines.ts';

export interface ServeSettings {
  readonly home: Home;
  /** 0 chooses a free port. */
  readonly port: number;
  /** Addresses to listen on. */
  readonly listen: readonly string[];
  /** The source of the listen addresses, for messages: `--listen`, `LONGHAUL_LISTEN` or `"listen" in node.json`. */
  readonly listenOption: string;
  readonly store: string;
  readonly isStrict: boolean;
  readonly logFormat: LogFormat;
  readonly requireToken: boolean;
  /** Whether it records spans of OpenTelemetry. */
  readonly hasTelemetry: boolean;
  readonly rates: DaemonFile['rates'];
}

export const LOOPBACK = ['127.0.0.1', '::1'] as const;
type Environment = Readonly<Record<string, string | undefined>>;

/** A setting as text, with the name of its source. */
interface SettingText {
  readonly option: string;
  readonly text: string;
}

export function serveSettings(args: Args, env: Environment, isTerminal: boolean): ServeSettings {
  const home = homeOf(args.text('home'));
  const file = daemonFile(readIfExists(home.settings));
  const setting = (name: string, inFile: string | null | undefined, flag = args.text(name)): SettingText | null =>
    firstSource(name, { flag, env, inFile });
  const addresses = args.list('listen');
  const listen = setting('listen', file.listen?.join(','), addresses.length === 0 ? undefined : addresses.join(','));
  const format = setting('log-format', file.logFormat);
  const strict = setting('strict', file.strict?.toString(), args.flag('strict') ? '1' : undefined);
  const token = setting('require-token', file.requireToken?.toString(), args.flag('require-token') ? '1' : undefined);
  const telemetry = setting('telemetry', file.telemetry?.toString(), args.flag('telemetry') ? '1' : undefined);
  return {
    home,
    requireToken: token !== null && toFlag(token),
    hasTelemetry: telemetry !== null && toFlag(telemetry),
    rates: file.rates,
    port: toPort(setting('port', file.port?.toString())),
    listen: listen === null ? LOOPBACK : toAddresses(listen),
    listenOption: listen?.option ?? '--listen',
    store: toStore(setting('store', file.store)) ?? home.root,
    isStrict: strict !== null && toFlag(strict),
    logFormat: format === null ? (isTerminal ? 'pretty' : 'json') : toFormat(format),
  };
}

interface Sources {
  readonly flag: string | undefined;
  readonly env: Environment;
  readonly inFile: string | null | undefined;
}

function firstSource(name: string, { flag, env, inFile }: Sources): SettingText | null {
  if (flag !== undefined) return { option: `--${name}`, text: flag };
  const variable = `LONGHAUL_${name.toUpperCase().replaceAll('-', '_')}`;
  const inEnv = env[variable];
  if (inEnv !== undefined && inEnv !== '') return { option: variable, text: inEnv };
  const key = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return inFile === null || inFile === undefined ? null : { option: `"${key}" in node.json`, text: inFile };
}

function toPort(setting: SettingText | null): number {
  if (setting === null) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(setting.text) ? Number(setting.text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new UsageError(`${setting.option} must be a port from 0 to 65535, not ${JSON.stringify(setting.text)}`);
}

/** A node needs a store of its own or one shared with other nodes. The HTTP API of another node is neither. */
function toStore(setting: SettingText | null): string | null {
  if (setting === null || !/^(https?|unix):/i.test(setting.text)) return setting?.text ?? null;
  throw new UsageError(
    `${setting.option} ${redactPassword(setting.text)}: a node cannot use another node as its store; ` +
      'to share queues, give both nodes the same redis:// address; to send jobs there, use longhaul add http://HOST:PORT/q/QUEUE',
  );
}

function toAddresses({ option, text }: SettingText): readonly string[] {
  const addresses = text.split(',').map((address) => address.trim().replace(/^\[(.*)\]$/, '$1'));
  const invalid = addresses.find((address) => isIP(address) === 0 && address !== 'localhost');
  if (invalid !== undefined)
    throw new UsageError(
      `${option} must be an IP address such as 127.0.0.1, ::1 or 0.0.0.0, not ${JSON.stringify(invalid)}`,
    );
  return [...new Set(addresses.flatMap((address) => (address === 'localhost' ? LOOPBACK : [address])))];
}

function toFlag({ option, text }: SettingText): boolean {
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw new UsageError(`${option} must be 1 or 0, not ${JSON.stringify(text)}`);
}

function toFormat({ option, text }: SettingText): LogFormat {
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

export function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
