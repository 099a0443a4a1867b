/**
 * The kind of a peer: a Longhaul node or an RQ host. Detected once and cached for a day in the records, so that the
 * next process does not ask again. A caller that finds the answer wrong removes it.
 */
import type { Records } from '../../core/ports/records.ts';
import { PROBLEM_TYPE } from '../../wire/problem-details.ts';
import type { PeerKind } from '../outbound-settings.ts';
import type { Peer } from './peer.ts';
import { askPeer, refusedBy } from './peer.ts';
import { RelayFailure } from './relay-failure.ts';
import { RELAY_PROTOCOL } from './relay-messages.ts';

const PEER_RECORD = 'relay-peer';
const CACHE_MS = 86_400_000;
/** Enough for an RQ host's list of many queues. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export class PeerKinds {
  readonly #records: Records;
  readonly #known = new Map<string, PeerKind>();

  constructor(records: Records) {
    this.#records = records;
  }

  async of(peer: Peer, set: PeerKind | null): Promise<PeerKind> {
    const known = set ?? this.#known.get(peer.base) ?? (await this.#read(peer.base));
    if (known !== null) return known;
    const kind = await detectKind(peer);
    this.#known.set(peer.base, kind);
    const value = JSON.stringify(kind);
    await this.#records.put({ kind: PEER_RECORD, key: peer.base, value, expiresAt: Date.now() + CACHE_MS });
    return kind;
  }

  async forget(base: string): Promise<void> {
    this.#known.delete(base);
    await this.#records.delete(PEER_RECORD, base);
  }

  async #read(base: string): Promise<PeerKind | null> {
    const record = await this.#records.get(PEER_RECORD, base);
    return record === null ? null : (JSON.parse(record.value) as PeerKind);
  }
}

/** Throws RelayFailure when it is neither, or denies access. */
export async function detectKind(peer: Peer): Promise<PeerKind> {
  const hello = await askPeer(peer, { method: 'GET', path: 'api/relay' });
  const { protocol } = (hello.json ?? {}) as { protocol?: unknown };
  if (hello.status === 200 && protocol === RELAY_PROTOCOL) return 'longhaul';
  if (hello.status === 200 && typeof protocol === 'number')
    throw new RelayFailure(
      'not-a-node',
      `${peer.base} uses version ${protocol} of the relay protocol, not ${RELAY_PROTOCOL}`,
    );
  if (String(hello.headers['content-type']).startsWith(PROBLEM_TYPE)) throw refusedBy(peer, hello);
  const queues = await askPeer(peer, { method: 'GET', path: 'q.json', maxAnswerBytes: MAX_ANSWER_BYTES });
  if (queues.status === 200 && isRqQueueList(queues.json)) return 'rq';
  if (queues.status === 401 || queues.status === 403 || queues.status >= 500) throw refusedBy(peer, queues);
  throw new RelayFailure('not-a-node', `${peer.base} is neither a Longhaul node nor an RQ host`);
}

/** An object with `queues`, or in early versions of RQ a list of names. */
function isRqQueueList(json: unknown): boolean {
  if (Array.isArray(json)) return json.every((name) => typeof name === 'string');
  return typeof json === 'object' && json !== null && Array.isArray((json as { queues?: unknown }).queues);
}
