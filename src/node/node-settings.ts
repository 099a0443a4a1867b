/** `node.json`: how this node is known to others and to its scripts, and what its daemon shall do. */
import { checked, flag, integer, listOf, object, oneOf, size, text } from '../core/input/check.ts';
import { shownName } from '../core/job/names.ts';
import { badInput } from '../core/ports/errors.ts';
import { units } from '../core/settings/limit-input.ts';
import type { OutboundSettings } from './outbound-settings.ts';
import { OUTBOUND_SHAPE, outboundSettings } from './outbound-settings.ts';

export interface NodeSettings {
  /** For people; null: it is known by its host. */
  readonly name: string | null;
  /** Base address of this node, with a slash at its end. */
  readonly url: string;
  /** Whether somebody has set it, and so means it for others too. */
  readonly isUrlSet: boolean;
  /** Of nodes that share a store: how much of one job, log and files together, a second node keeps a copy of. */
  readonly copyUpTo: number;
  /** Other addresses under which the same node is known. */
  readonly aliases: readonly string[];
  readonly port: number;
  /** production, development, test, stage: handed to scripts as RQ_ENV. */
  readonly env: string;
  /** Folders beside `queues/` in which scripts may live. */
  readonly scriptDirs: readonly string[];
  /** RQ's own openness: whoever comes over the loopback to RQ's addresses may name scripts. */
  readonly rq: { readonly open: boolean };
  /** Resources for jobs that need some, beside or instead of the machine's cores (`cpu`) and memory (`memoryMb`); needs.ts. */
  readonly offers: string;
  /** Where it may call, with which tokens, and how fast. */
  readonly outbound: OutboundSettings;
}

/** What `node.json` says of the daemon itself. Null: it says nothing. */
export interface DaemonFile {
  readonly port: number | null;
  readonly listen: readonly string[] | null;
  readonly store: string | null;
  readonly strict: boolean | null;
  readonly logFormat: LogFormat | null;
  /** Also on the loopback nobody comes in without a token. */
  readonly requireToken: boolean | null;
  /** How much one caller may ask, and how many jobs one queue is given, a second; null where there is no limit. */
  readonly rates: { readonly requestsPerSecond: number | null; readonly jobsPerSecond: number | null };
}

export const LOG_FORMATS = ['pretty', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export const DEFAULT_PORT = 3333;
const COPY_UP_TO = 16 * 1024 ** 2;
const address = text({ max: 2_048, pattern: /^https?:\/\/[^\s/]+/, must: 'must be an http address' });
const shape = object({
  name: shownName,
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
  requireToken: flag,
  rates: object({ requestsPerSecond: integer(1, 1_000_000), jobsPerSecond: integer(1, 1_000_000) }),
  ...OUTBOUND_SHAPE,
});

export function daemonFile(json: string | undefined): DaemonFile {
  const { port = null, listen = null, store = null, strict = null, logFormat = null, ...more } = read(json);
  const { requestsPerSecond = null, jobsPerSecond = null } = more.rates ?? {};
  const rates = { requestsPerSecond, jobsPerSecond };
  return { port, listen, store, strict, logFormat, requireToken: more.requireToken ?? null, rates };
}

/** `json` is the text of node.json; undefined when there is none. `listensOn`: the port that is really listened on, where it is known. */
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
    throw badInput('node.json', [{ path: '', message: `is no JSON: ${(error as Error).message}` }]);
  }
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
