/** Reads the facts in an answer of INFO, and describes a server for people. */
import { type Layout, type Place, placeText } from './address.ts';
import type { RedisSettings } from './options.ts';

/** Returns an empty text for an unknown fact. */
export const factIn = (facts: string, name: string): string =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(facts)?.[1] ?? '';

interface Beside {
  readonly fsync: string | undefined;
  readonly place: Place;
  readonly layout: Layout;
  readonly settings: RedisSettings;
}

const HOW: Readonly<Record<Layout, string>> = {
  single: 'the server that was named',
  sentinel: 'found by Sentinel',
  cluster: 'has the slot of the namespace',
};

export function foundIn(facts: string, { fsync = 'not known', place, layout, settings }: Beside): string[] {
  const fact = (name: string): string => factIn(facts, name) || 'not known';
  const valkey = factIn(facts, 'valkey_version');
  const server = valkey === '' ? `Redis ${fact('redis_version')}` : `Valkey ${valkey}`;
  const where = `${placeText(place)} (${HOW[layout]})`;
  const replicas = [...facts.matchAll(/^slave\d+:ip=(.*?),port=(\d+),state=(\w+),.*lag=(\d+)/gm)];
  const each = replicas.map(([, host, port, state, lag]) => `${host}:${port} ${state}, lag ${lag} s`).join('; ');
  const aof = fact('aof_enabled') === '1' ? `on, appendfsync ${fsync}` : 'off';
  return [
    `${server}, role ${fact('role')}, at ${where}`,
    `replicas: ${fact('connected_slaves')}${each === '' ? '' : ` (${each})`}`,
    `append-only file: ${aof}; maxmemory-policy: ${fact('maxmemory_policy')}`,
    `durability: ${settings.replicas === 0 ? 'local' : `replicated:${settings.replicas}`}; namespace: ${settings.namespace}`,
  ];
}
