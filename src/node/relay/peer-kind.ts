/**
 * What stands at an address: a node of Longhaul, or a host of RQ. It is asked once and remembered for a day, in the
 * records, so that the next process need not ask either; whoever finds the answer wrong has it forgotten.
 */
import type { Records } from '../../core/ports/records.ts';
import { PROBLEM_TYPE } from '../../wire/problem-details.ts';
import type { PeerKind } from '../outbound-settings.ts';
import type { Peer } from './peer.ts';
import { askPeer, refusedBy } from './peer.ts';
import { RelayFailure } from './relay-failure.ts';
import { RELAY_PROTOCOL } from './relay-messages.ts';

const PEER_RECORD = 'relay-peer';
const REMEMBERED_MS = 86_400_000;
/** A list of many queues, from an RQ host, is as long as that. */
const MOST_ANSWER = 1024 * 1024;

export class PeerKinds {
  readonly #records: Records;
  readonly #known = new Map<string, PeerKind>();

  constructor(records: Records) {
    this.#records = records;
  }

  async of(peer: Peer, set: PeerKind | null): Promise<PeerKind> {
    const known = set ?? this.#known.get(peer.base) ?? (await this.#recall(peer.base));
    if (known !== null) return known;
    const kind = await askWhat(peer);
    this.#known.set(peer.base, kind);
    const value = JSON.stringify(kind);
    await this.#records.put({ kind: PEER_RECORD, key: peer.base, value, expiresAt: Date.now() + REMEMBERED_MS });
    return kind;
  }

  async forget(base: string): Promise<void> {
    this.#known.delete(base);
    await this.#records.delete(PEER_RECORD, base);
  }

  async #recall(base: string): Promise<PeerKind | null> {
    const record = await this.#records.get(PEER_RECORD, base);
    return record === null ? null : (JSON.parse(record.value) as PeerKind);
  }
}

/** Throws RelayFailure when it is neither, or does not let us in. */
export async function askWhat(peer: Peer): Promise<PeerKind> {
  const hello = await askPeer(peer, { method: 'GET', path: 'api/relay' });
  const { protocol } = (hello.json ?? {}) as { protocol?: unknown };
  if (hello.status === 200 && protocol === RELAY_PROTOCOL) return 'longhaul';
  if (hello.status === 200 && typeof protocol === 'number')
    throw new RelayFailure('not-a-node', `${peer.base} speaks version ${protocol} of the relay, not ${RELAY_PROTOCOL}`);
  if (String(hello.headers['content-type']).startsWith(PROBLEM_TYPE)) throw refusedBy(peer, hello);
  const queues = await askPeer(peer, { method: 'GET', path: 'q.json', maxAnswerBytes: MOST_ANSWER });
  if (queues.status === 200 && isListOfRq(queues.json)) return 'rq';
  if (queues.status === 401 || queues.status === 403 || queues.status >= 500) throw refusedBy(peer, queues);
  throw new RelayFailure('not-a-node', `${peer.base} is neither a node of Longhaul nor a host of RQ`);
}

/** An object with `queues`, or in RQ's early days a plain list of names. */
function isListOfRq(json: unknown): boolean {
  if (Array.isArray(json)) return json.every((name) => typeof name === 'string');
  return typeof json === 'object' && json !== null && Array.isArray((json as { queues?: unknown }).queues);
}
