/**
 * Which destinations answer at the moment. Asked when somebody must choose between them, and believed for a few seconds: one
 * that is down is left out, and is back as soon as it answers again.
 */
import { parseDestination } from '../../core/job/relay-request.ts';
import { baseOf } from '../outbound-settings.ts';
import type { Peer } from './peer.ts';
import { askPeer } from './peer.ts';
import { RelayFailure } from './relay-failure.ts';

const BELIEVED_MS = 5_000;
const PATIENCE_MS = 2_000;

export class PeerHealth {
  readonly #peerAt: (base: string, signal: AbortSignal) => Peer;
  readonly #own: () => readonly string[];
  readonly #believed = new Map<string, { readonly isUp: boolean; readonly until: number }>();

  /** `own`: base addresses of this very node, which is up. */
  constructor(peerAt: (base: string, signal: AbortSignal) => Peer, own: () => readonly string[]) {
    this.#peerAt = peerAt;
    this.#own = own;
  }

  /** Of these addresses of queues, those whose node answers. */
  async upOf(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const states = await Promise.all(addresses.map((address) => this.#isUp(address, signal)));
    return new Set(addresses.filter((_, place) => states[place] === true));
  }

  async #isUp(address: string, signal: AbortSignal): Promise<boolean> {
    const found = parseDestination(address);
    // A queue of this node's own.
    if (found === null) return true;
    const base = baseOf(found.base);
    if (this.#own().includes(base)) return true;
    const known = this.#believed.get(base);
    if (known !== undefined && known.until > performance.now()) return known.isUp;
    const isUp = await answers({ ...this.#peerAt(base, signal), times: QUICK });
    this.#believed.set(base, { isUp, until: performance.now() + BELIEVED_MS });
    return isUp;
  }
}

const QUICK = { connectMs: PATIENCE_MS, idleMs: PATIENCE_MS, answerMs: PATIENCE_MS };

/** Any answer is one: what it says is for the relay to hear. */
async function answers(peer: Peer): Promise<boolean> {
  try {
    return (await askPeer(peer, { method: 'GET', path: 'api/relay' })).status !== 503;
  } catch (error) {
    if (error instanceof RelayFailure) return false;
    throw error;
  }
}
