/** `node.json`: identity of this node, and settings of its daemon. */
import { checked, flag, integer, listOf, object, oneOf, size, text } from '../core/input/check.ts';
import { displayName } from '../core/job/names.ts';
import { badInput } from '../core/ports/errors.ts';
import { units } from '../core/settings/limit-input.ts';
import type { OutboundSettings } from './outbound-settings.ts';
import { OUTBOUND_SHAPE, outboundSettings } from './outbound-settings.ts';

export interface NodeSettings {
  /** Display name; null: the host name. */
  readonly name: string | null;
  /** Base URL of this node, with a trailing slash. */
  readonly url: string;
  /** Whether the URL is set explicitly, so that it is valid for other machines too. */
  readonly isUrlSet: boolean;
  /** Largest size of one job's log and files that a second node copies, where nodes share a store. */
  readonly copyUpTo: number;
  /** Other base URLs of the same node. */
  readonly aliases: readonly string[];
  readonly port: number;
  /** production, development, test or stage: passed to scripts as RQ_ENV. */
  readonly env: string;
  /** Directories other than `queues/` that may contain scripts. */
  readonly scriptDirs: readonly string[];
  /** RQ's open access: callers on the loopback interface may name scripts through RQ's API. */
  readonly rq: { readonly open: boolean };
  /** Resources for jobs, in addition to or instead of the machine's cores (`cpu`) and memory (`memoryMb`). */
  readonly offers: string;
  /** Allowed destinations of outgoing calls, with their tokens and bandwidths. */
  readonly outbound: OutboundSettings;
}

/** The settings of the daemon in `node.json`. Null: not set. */
export interface DaemonFile {
  readonly port: number | null;
  readonly listen: readonly string[] | null;
  readonly store: string | null;
  readonly strict: boolean | null;
  readonly logFormat: LogFormat | null;
  readonly telemetry: boolean | null;
  /** Whether loopback callers need a token too. */
  readonly requireToken: boolean | null;
  /** Limits per second: requests of one caller, and jobs added to one queue; null: no limit. */
  readonly rates: { readonly requestsPerSecond: number | null; readonly jobsPerSecond: number | null };
}

export const LOG_FORMATS = ['pretty', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export const DEFAULT_PORT = 3333;
const COPY_UP_TO = 16 * 1024 ** 2;
const address = text({ max: 2_048, pattern: /^https?:\/\/[^\s/]+/, must: 'must be an http address' });
const shape = object({
  name: displayName,
  url: address,
  copyUpTo: size,
  aliases: listOf(address, 50),
  port: integer(1, 65_535),
  env: text({ max: 64, pattern: /^[A-Za-z0-9_-]+$/, must: 'must be one word' }),
  scriptDirs: listOf(text({ max: 4_096, pattern: /^\//, must: 'must be an absolute path' }), 100),
  rq: object({ open: flag }),
  offers: units,
  listen: listOf(text({ max: 255 }), 20),
  store: text({ max: 4_096 }),
  strict: flag,
  logFormat: oneOf(...LOG_FORMATS),
  telemetry: flag,
  requireToken: flag,
  rates: object({ requestsPerSecond: integer(1, 1_000_000), jobsPerSecond: integer(1, 1_000_000) }),
  ...OUTBOUND_SHAPE,
});

export function daemonFile(json: string | undefined): DaemonFile {
  const { port = null, listen = null, store = null, strict = null, logFormat = null, ...more } = read(json);
  const { requestsPerSecond = null, jobsPerSecond = null } = more.rates ?? {};
  const rates = { requestsPerSecond, jobsPerSecond };
  return {
    port,
    listen,
    store,
    strict,
    logFormat,
    requireToken: more.requireToken ?? null,
    telemetry: more.telemetry ?? null,
    rates,
  };
}

/** `json` is the text of node.json, undefined when there is none. `listensOn` is the actual port, where known. */
export function nodeSettings(json: string | undefined, listensOn?: number): NodeSettings {
  const given = read(json);
  const port = given.port ?? listensOn ?? DEFAULT_PORT;
  const url = withSlash(given.url ?? `http://localhost:${listensOn ?? port}/`);
  const { aliases = [], env = 'development', scriptDirs = [], rq } = given;
  return {
    name: given.name ?? null,
    url,
    isUrlSet: given.url !== undefined,
    copyUpTo: given.copyUpTo ?? COPY_UP_TO,
    offers: given.offers ?? '',
    aliases: aliases.map(withSlash),
    port,
    env,
    scriptDirs,
    rq: { open: rq?.open ?? false },
    outbound: outboundSettings(given),
  };
}

function read(json: string | undefined) {
  return checked('node.json', json === undefined ? {} : parse(json), shape);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw badInput('node.json', [{ path: '', message: `is not valid JSON: ${(error as Error).message}` }]);
  }
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
