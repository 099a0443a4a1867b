/** Asks one Sentinel, or one node of a cluster, for the primary and for the others of its kind. */
import type { Layout, Place } from './address.ts';
import type { RedisSettings } from './options.ts';
import { type Client, keyPrefix } from './redis-client.ts';

export interface Discovered {
  /** Null when it does not know one. */
  readonly primary: Place | null;
  readonly others: readonly Place[];
}

export function discover(client: Client, layout: Layout, settings: RedisSettings): Promise<Discovered> {
  return layout === 'sentinel' ? askSentinel(client, settings) : askNode(client, settings);
}

async function askSentinel(client: Client, { address: { name } }: RedisSettings): Promise<Discovered> {
  const send = (subcommand: string): Promise<unknown> => client.send(['SENTINEL', subcommand, name]);
  // A Sentinel that may not list the others can still name the primary.
  const others = send('SENTINELS').catch(() => []);
  const primary = await send('GET-MASTER-ADDR-BY-NAME');
  const known = listOf(await others).map((each) => {
    const facts = recordOf(each);
    return placeOf(facts['ip'], facts['port']);
  });
  const [host, port] = listOf(primary);
  return { primary: primary === null ? null : placeOf(host, port), others: known.filter((place) => place !== null) };
}

/** A range of slots is its first, its last, its primary and its replicas, each of them a host, a port, and more. */
async function askNode(client: Client, settings: RedisSettings): Promise<Discovered> {
  const [slot, ranges] = await Promise.all([
    client.send(['CLUSTER', 'KEYSLOT', keyPrefix(settings)]),
    client.send(['CLUSTER', 'SLOTS']),
  ]);
  const shards = listOf(ranges).map((range) => {
    const [first, last, ...nodes] = listOf(range);
    return { first: Number(first), last: Number(last), places: nodes.map((node) => nodePlace(node, client.place)) };
  });
  const ours = shards.find(({ first, last }) => first <= Number(slot) && Number(slot) <= last);
  const others = shards.flatMap(({ places }) => places).filter((place) => place !== null);
  return { primary: ours?.places[0] ?? null, others };
}

/** A node that does not know its own address leaves it out: it has the one that was asked. */
function nodePlace(node: unknown, asked: Place): Place | null {
  const [host, port] = listOf(node);
  return placeOf(host === '' || host === null ? asked.host : host, port);
}

function placeOf(host: unknown, port: unknown): Place | null {
  const number = Number(port);
  return typeof host === 'string' && host !== '?' && number > 0 ? { host, port: number } : null;
}

const listOf = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? (answer as readonly unknown[]) : []);

/** Pairs are a list or, in the newer protocol, a record. */
function recordOf(answer: unknown): Readonly<Record<string, unknown>> {
  if (!Array.isArray(answer)) return typeof answer === 'object' && answer !== null ? { ...answer } : {};
  const pairs = Array.from({ length: answer.length / 2 }, (_, at) => [String(answer[2 * at]), answer[2 * at + 1]]);
  return Object.fromEntries(pairs) as Record<string, unknown>;
}
