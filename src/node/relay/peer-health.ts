/**
 * Which destinations answer. Checked when a rule must choose between them, and cached for a few seconds: a destination
 * that is down is left out until it answers again.
 */
import { parseDestination } from '../../core/job/relay-request.ts';
import { baseOf } from '../outbound-settings.ts';
import type { Peer } from './peer.ts';
import { askPeer } from './peer.ts';
import { RelayFailure } from './relay-failure.ts';

const CACHE_MS = 5_000;
const TIMEOUT_MS = 2_000;

export class PeerHealth {
  readonly #peerAt: (base: string, signal: AbortSignal) => Peer;
  readonly #own: () => readonly string[];
  readonly #cache = new Map<string, { readonly isUp: boolean; readonly until: number }>();

  /** `own`: base URLs of this node, which is up. */
  constructor(peerAt: (base: string, signal: AbortSignal) => Peer, own: () => readonly string[]) {
    this.#peerAt = peerAt;
    this.#own = own;
  }

  /** Returns those queue addresses whose node answers. */
  async upOf(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const states = await Promise.all(addresses.map((address) => this.#isUp(address, signal)));
    return new Set(addresses.filter((_, index) => states[index] === true));
  }

  async #isUp(address: string, signal: AbortSignal): Promise<boolean> {
    const found = parseDestination(address);
    // A queue of this node.
    if (found === null) return true;
    const base = baseOf(found.base);
    if (this.#own().includes(base)) return true;
    const known = this.#cache.get(base);
    if (known !== undefined && known.until > performance.now()) return known.isUp;
    const isUp = await answers({ ...this.#peerAt(base, signal), times: SHORT_TIMES });
    this.#cache.set(base, { isUp, until: performance.now() + CACHE_MS });
    return isUp;
  }
}

const SHORT_TIMES = { connectMs: TIMEOUT_MS, idleMs: TIMEOUT_MS, answerMs: TIMEOUT_MS };

/** Any answer counts: the relay handles refusals. */
async function answers(peer: Peer): Promise<boolean> {
  try {
    return (await askPeer(peer, { method: 'GET', path: 'api/relay' })).status !== 503;
  } catch (error) {
    if (error instanceof RelayFailure) return false;
    throw error;
  }
}
