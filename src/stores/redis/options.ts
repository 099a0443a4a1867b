/**
 * How a Redis store is opened: an address and what is promised.
 *
 * Everything here is plain data, so that a keeper thread can open the same store from a copy of it.
 */
import type { ClockSource } from '../../core/clock.ts';
import { badInput, type Problem } from '../../core/errors.ts';

export interface RedisStoreOptions {
  /** redis://[user:password@]host:port[/db][?namespace=x], or rediss:// for TLS. */
  readonly url: string;
  /** All keys begin with `{namespace}`; one namespace is one store. Default: the address's, else `longhaul`. */
  readonly namespace?: string;
  readonly clock?: ClockSource;
  /** `local` (default), or `replicated:n`: n replicas must have each change, too few end the call as outcome-unknown. */
  readonly durability?: string;
  /** How long a command may take, and a connection to be made. */
  readonly commandTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
}

export interface RedisSettings {
  /** Without the query, which is ours. */
  readonly url: string;
  readonly namespace: string;
  readonly clock: ClockSource;
  /** How many replicas must have a change; 0 for none. */
  readonly replicas: number;
  readonly commandTimeoutMs: number;
  readonly connectTimeoutMs: number;
}

/** Shorter than a lease, so that a heartbeat that hangs is known before it matters. */
const COMMAND_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const NAMESPACE = /^[A-Za-z0-9_.:~-]{1,128}$/;

export function settingsOf(options: RedisStoreOptions): RedisSettings {
  const problems: Problem[] = [];
  const url = addressOf(options.url, problems);
  const namespace = options.namespace ?? url?.searchParams.get('namespace') ?? 'longhaul';
  if (!NAMESPACE.test(namespace)) problems.push({ path: 'namespace', message: 'letters, digits and _ . : ~ - only' });
  const replicas = replicasOf(options.durability ?? 'local', problems);
  if (url === undefined || problems.length > 0) throw badInput('the options of the Redis store', problems);
  url.search = '';
  const { clock = 'store', commandTimeoutMs = COMMAND_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  return { url: url.href, namespace, clock, replicas, commandTimeoutMs, connectTimeoutMs };
}

/** The address is not repeated in a problem: it may hold a password. */
function addressOf(address: string, problems: Problem[]): URL | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== 'redis:' && url.protocol !== 'rediss:')) {
    problems.push({ path: 'url', message: 'must be redis://host:port or rediss://host:port' });
    return undefined;
  }
  const unknown = [...url.searchParams.keys()].filter((name) => name !== 'namespace');
  for (const name of unknown) problems.push({ path: `url?${name}`, message: 'unknown; did you mean namespace?' });
  return url;
}

function replicasOf(durability: string, problems: Problem[]): number {
  if (durability === 'local') return 0;
  const count = Number(/^replicated:(\d+)$/.exec(durability)?.[1] ?? 0);
  if (count < 1) problems.push({ path: 'durability', message: `'local' or 'replicated:n' with n of at least 1` });
  return count;
}
