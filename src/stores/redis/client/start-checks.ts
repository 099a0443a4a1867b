/**
 * The checks when a store is opened. A server that could lose jobs is refused; a setting that only weakens a promise is a
 * notice of the store, which its caller shows.
 */
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { RedisSettings } from './options.ts';
import type { PrimaryConnection } from './primary-connection.ts';
import { factIn, foundIn } from './server-facts.ts';

const OLDEST = [6, 2] as const;
/** Where the Lua engine's remote code execution (CVE-2025-49844) is fixed, for each line that is maintained. */
const FIXED = ['6.2.20', '7.2.11', '7.4.6', '8.0.4', '8.2.2'];
const FIXED_VALKEY = ['7.2.11', '8.0.6', '8.1.4', '9.0.0'];

type Send = (command: readonly string[]) => Promise<unknown>;

export interface Checked {
  /** Settings that weaken the promises. */
  readonly notices: readonly string[];
  /** Server, role, replicas and durability, for people. */
  readonly found: readonly string[];
}

export async function checkStart(
  connection: PrimaryConnection,
  settings: RedisSettings,
  facts: string,
): Promise<Checked> {
  const fsync = await appendfsync((command) => connection.send(command));
  const notices = [
    ...checkFacts(facts),
    ...persistenceNotices(facts, fsync),
    ...replicaNotices(facts, settings),
    ...addressNotices(settings),
  ];
  return {
    notices,
    found:
      facts === ''
        ? []
        : foundIn(facts, { fsync, settings, layout: connection.layout, place: connection.current().place }),
  };
}

/** Checks the version and the memory policy in the answer of INFO. */
export function checkFacts(facts: string): string[] {
  return [...checkVersion(facts), ...checkEviction(facts)];
}

const numbersOf = (version: string): number[] => version.split('.').map(Number);

function isBefore(version: readonly number[], other: readonly number[]): boolean {
  const at = other.findIndex((number, index) => (version[index] ?? 0) !== number);
  return at >= 0 && (version[at] ?? 0) < (other[at] ?? 0);
}

function checkVersion(facts: string): string[] {
  const valkey = factIn(facts, 'valkey_version');
  const version = valkey || factIn(facts, 'redis_version');
  if (version === '')
    return [
      'INFO is forbidden here: version, memory policy and append-only file are not known, and tokens may repeat after a failover',
    ];
  const numbers = numbersOf(version);
  if (isBefore(numbers, OLDEST)) {
    throw new LonghaulError(
      'store-incompatible',
      `Redis ${version} is too old: ${OLDEST.join('.')} or newer is needed`,
    );
  }
  const fixes = (valkey ? FIXED_VALKEY : FIXED).map(numbersOf);
  const line = fixes.find((fix) => fix[0] === numbers[0] && fix[1] === numbers[1]);
  const isFixed = line === undefined ? !isBefore(numbers, fixes.at(-1) ?? []) : !isBefore(numbers, line);
  return isFixed
    ? []
    : [`version ${version} has a known hole in its script engine (CVE-2025-49844): update the server`];
}

/** A server that evicts keys when its memory is full would delete jobs. */
function checkEviction(facts: string): string[] {
  const policy = factIn(facts, 'maxmemory_policy');
  if (policy === 'noeviction' || policy === '') return [];
  const message = `maxmemory-policy is ${policy}: Redis would delete jobs when memory is short`;
  if (factIn(facts, 'maxmemory') === '0') return [`${message}; maxmemory is not set, so not yet`];
  throw new LonghaulError('store-incompatible', `${message}; set it to noeviction`);
}

/** Returns undefined when CONFIG is forbidden. */
async function appendfsync(send: Send): Promise<string | undefined> {
  const answer = await send(['CONFIG', 'GET', 'appendfsync']).catch(() => undefined);
  if (Array.isArray(answer)) return String(answer[1]);
  return typeof answer === 'object' && answer !== null ? String(Object.values(answer)[0]) : undefined;
}

function persistenceNotices(facts: string, appendfsync: string | undefined): string[] {
  if (facts === '') return [];
  if (factIn(facts, 'aof_enabled') === '0') {
    return ['the append-only file is off: a crash of Redis loses what was added since its last snapshot'];
  }
  if (appendfsync === undefined) return ['CONFIG is forbidden here: whether each change reaches the disk is not known'];
  if (appendfsync === 'always') return [];
  return [`appendfsync is ${appendfsync}: a crash of Redis can lose the last seconds, also of what was confirmed`];
}

/** With fewer replicas than wanted no change is confirmed; with exactly as many, the loss of one stops every change. */
function replicaNotices(facts: string, { replicas }: RedisSettings): string[] {
  const connected = Number(factIn(facts, 'connected_slaves') || replicas);
  if (connected >= replicas) return [];
  return [
    `durability replicated:${replicas} wants more replicas than the ${connected} connected: no change is confirmed`,
  ];
}

function addressNotices({ address: { places, password, isTls } }: RedisSettings): string[] {
  if (places.every(({ host }) => host === 'localhost' || host === '::1' || host.startsWith('127.'))) return [];
  return [
    ...(password === ''
      ? ['Redis is reached without a password: a program that can write to it controls every job']
      : []),
    ...(isTls ? [] : ['Redis is reached over the network without TLS (rediss://)']),
  ];
}
