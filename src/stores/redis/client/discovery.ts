/** What one Sentinel, or one node of a cluster, says of where the primary is and who else can be asked. */
import type { Layout, Place } from './address.ts';
import { keyPrefix, type Wire } from './client-library.ts';
import type { RedisSettings } from './options.ts';

export interface Whereabouts {
  /** Null when it knows none. */
  readonly primary: Place | null;
  readonly others: readonly Place[];
}

export function whereaboutsOf(wire: Wire, layout: Layout, settings: RedisSettings): Promise<Whereabouts> {
  return layout === 'sentinel' ? askSentinel(wire, settings) : askNode(wire, settings);
}

async function askSentinel(wire: Wire, { address: { name } }: RedisSettings): Promise<Whereabouts> {
  const ask = (what: string): Promise<unknown> => wire.send(['SENTINEL', what, name]);
  // A Sentinel that may not tell of the others still tells of the primary.
  const others = ask('SENTINELS').catch(() => []);
  const primary = await ask('GET-MASTER-ADDR-BY-NAME');
  const known = listOf(await others).map((each) => {
    const facts = recordOf(each);
    return placeOf(facts['ip'], facts['port']);
  });
  const [host, port] = listOf(primary);
  return { primary: primary === null ? null : placeOf(host, port), others: known.filter((place) => place !== null) };
}

/** A range of slots is its first, its last, its primary and its replicas, each of them a host, a port, and more. */
async function askNode(wire: Wire, settings: RedisSettings): Promise<Whereabouts> {
  const [slot, ranges] = await Promise.all([
    wire.send(['CLUSTER', 'KEYSLOT', keyPrefix(settings)]),
    wire.send(['CLUSTER', 'SLOTS']),
  ]);
  const shards = listOf(ranges).map((range) => {
    const [first, last, ...nodes] = listOf(range);
    return { first: Number(first), last: Number(last), places: nodes.map((node) => nodePlace(node, wire.place)) };
  });
  const ours = shards.find(({ first, last }) => first <= Number(slot) && Number(slot) <= last);
  const others = shards.flatMap(({ places }) => places).filter((place) => place !== null);
  return { primary: ours?.places[0] ?? null, others };
}

/** A node that does not know its own address leaves it out: it is where it was asked. */
function nodePlace(node: unknown, asked: Place): Place | null {
  const [host, port] = listOf(node);
  return placeOf(host === '' || host === null ? asked.host : host, port);
}

function placeOf(host: unknown, port: unknown): Place | null {
  const number = Number(port);
  return typeof host === 'string' && host !== '?' && number > 0 ? { host, port: number } : null;
}

const listOf = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? (answer as readonly unknown[]) : []);

/** Pairs come as a list or, in the newer protocol, as a record. */
function recordOf(answer: unknown): Readonly<Record<string, unknown>> {
  if (!Array.isArray(answer)) return typeof answer === 'object' && answer !== null ? { ...answer } : {};
  const pairs = Array.from({ length: answer.length / 2 }, (_, at) => [String(answer[2 * at]), answer[2 * at + 1]]);
  return Object.fromEntries(pairs) as Record<string, unknown>;
}
