/**
 * The options of a Redis store: its address, namespace and durability.
 *
 * They are plain data, so that the lease renewer's thread can open the same store from a copy of them.
 */

import { didYouMean } from '../../../core/input/did-you-mean.ts';
import type { ClockSource } from '../../../core/lifecycle/clock.ts';
import { badInput, type Problem } from '../../../core/ports/errors.ts';
import { type Address, parseAddress } from './address.ts';

/** Paths of PEM files, and the name that the certificate must have where it is not that of the host. */
export interface RedisTls {
  /** The certificate authority. */
  readonly ca?: string;
  /** The client certificate. */
  readonly cert?: string;
  /** The key of the client certificate. */
  readonly key?: string;
  /** The name that the server's certificate must have. */
  readonly servername?: string;
}

/** Options of a Redis store. */
export interface RedisStoreOptions {
  /** One of those in address.ts; what stands below may follow as ?namespace=x&durability=replicated:1&ca=/path&… */
  readonly url: string;
  /** All keys begin with `{namespace}`; one namespace is one store. Default: the address's, else `longhaul`. */
  readonly namespace?: string;
  /** The clock that sets the time of calls. Default: the server's. */
  readonly clock?: ClockSource;
  /** False: a namespace that holds no store is refused and nothing is written. */
  readonly create?: boolean;
  /** `local` (default), or `replicated:n`: n replicas must have each change, too few end the call as outcome-unknown. */
  readonly durability?: string;
  /** TLS is on with rediss:// alone; these are for a certificate that the machine does not know. */
  readonly tls?: RedisTls;
  /** How long a command may take, and a connection to be made. */
  readonly commandTimeoutMs?: number;
  /** How long a connection attempt may take. */
  readonly connectTimeoutMs?: number;
}

export interface RedisSettings {
  readonly address: Address;
  readonly namespace: string;
  readonly clock: ClockSource;
  readonly create: boolean;
  /** How many replicas must have a change; 0 for none. */
  readonly replicas: number;
  readonly tls: RedisTls;
  /** The login at Sentinels, which differs from that at the primary. */
  readonly sentinel: { readonly username: string; readonly password: string };
  readonly commandTimeoutMs: number;
  readonly connectTimeoutMs: number;
}

/** Shorter than a lease, so that a heartbeat that hangs fails before the lease ends. */
const COMMAND_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const NAMESPACE = /^[A-Za-z0-9_.:~-]{1,128}$/;
const TLS_NAMES = ['ca', 'cert', 'key', 'servername'] as const;
const NAMES: readonly string[] = ['namespace', 'durability', ...TLS_NAMES, 'sentinelUsername', 'sentinelPassword'];

export function settingsOf(options: RedisStoreOptions): RedisSettings {
  const problems: Problem[] = [];
  const address = parseAddress(options.url, problems);
  const inAddress = (name: string): string | undefined => address?.query.get(name) ?? undefined;
  for (const name of new Set(address?.query.keys()))
    if (!NAMES.includes(name)) problems.push({ path: `url?${name}`, message: `unknown${didYouMean(name, NAMES)}` });
  const namespace = options.namespace ?? inAddress('namespace') ?? 'longhaul';
  if (!NAMESPACE.test(namespace)) problems.push({ path: 'namespace', message: 'letters, digits and _ . : ~ - only' });
  const replicas = replicasOf(options.durability ?? inAddress('durability') ?? 'local', problems);
  const tls = tlsOf(options.tls ?? {}, inAddress, problems);
  if (address !== undefined && !address.isTls && Object.keys(tls).length > 0)
    problems.push({ path: Object.keys(tls)[0] ?? 'tls', message: 'is of TLS: begin the address with rediss' });
  if (address === undefined || problems.length > 0) throw badInput('the options of the Redis store', problems);
  const {
    clock = 'store',
    create = true,
    commandTimeoutMs = COMMAND_TIMEOUT_MS,
    connectTimeoutMs = CONNECT_TIMEOUT_MS,
  } = options;
  const sentinel = { username: inAddress('sentinelUsername') ?? '', password: inAddress('sentinelPassword') ?? '' };
  return { address, namespace, clock, create, replicas, tls, sentinel, commandTimeoutMs, connectTimeoutMs };
}

function tlsOf(given: RedisTls, inAddress: (name: string) => string | undefined, problems: Problem[]): RedisTls {
  const parts = TLS_NAMES.flatMap((name) => {
    const value = given[name] ?? inAddress(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const tls: RedisTls = Object.fromEntries(parts);
  const lone = tls.cert === undefined ? 'key' : 'cert';
  if ((tls.cert === undefined) !== (tls.key === undefined))
    problems.push({ path: lone, message: 'cert and key go together' });
  return tls;
}

function replicasOf(durability: string, problems: Problem[]): number {
  if (durability === 'local') return 0;
  const count = Number(/^replicated:(\d{1,3})$/.exec(durability)?.[1] ?? 0);
  if (count < 1) problems.push({ path: 'durability', message: `'local' or 'replicated:n' with n of at least 1` });
  return count;
}
