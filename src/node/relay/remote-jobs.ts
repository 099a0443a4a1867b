/**
 * Reads the state of a relayed job from the node that has it, with the token for that destination. Nothing is cached.
 */
import type { Job } from '../../core/job/job.ts';
import { parseDestination } from '../../core/job/relay-request.ts';
import { baseOf } from '../outbound-settings.ts';
import type { Peer } from './peer.ts';
import { askPeer, refusedBy } from './peer.ts';
import type { RelayHost } from './relay-attempt.ts';
import { peerAt } from './relay-attempt.ts';
import { RelayFailure } from './relay-failure.ts';

/** If `known` is false, `reason` says why. */
export interface RemoteView {
  readonly address: string;
  readonly known: boolean;
  readonly reason: string | null;
  /** The other node's view: state, label, reason, progress, attempt. */
  readonly job: unknown;
}

export interface RemoteLog {
  readonly known: boolean;
  readonly reason: string | null;
  readonly text: string;
}

const MAX_LOG_BYTES = 256 * 1024;

export class RemoteJobs {
  readonly #host: RelayHost;

  constructor(host: RelayHost) {
    this.#host = host;
  }

  async view({ forwardedTo }: Job, signal: AbortSignal): Promise<RemoteView> {
    const address = forwardedTo ?? '';
    const asked = await this.#ask(address, '', signal);
    if (typeof asked === 'string') return { address, known: false, reason: asked, job: null };
    return { address, known: true, reason: null, job: asked.json ?? null };
  }

  /** Returns the end of its log there. */
  async log({ forwardedTo }: Job, signal: AbortSignal): Promise<RemoteLog> {
    const asked = await this.#ask(forwardedTo ?? '', '/log', signal);
    if (typeof asked === 'string') return { known: false, reason: asked, text: '' };
    return { known: true, reason: null, text: asked.text };
  }

  async #ask(address: string, what: '' | '/log', signal: AbortSignal) {
    const [, queue = '', id = ''] = /^(.*)\/([^/]+)$/.exec(address) ?? [];
    const found = parseDestination(queue);
    if (found === null || !/^[A-Za-z0-9._:~-]{1,128}$/.test(id)) return 'it was not forwarded to a queue address';
    try {
      const peer: Peer = peerAt(this.#host, baseOf(found.base), signal);
      if ((await this.#host.kinds.of(peer, null)) === 'rq') return await askRq(peer, `q/${found.queue}/${id}`, what);
      const path = `api/relay/${encodeURIComponent(id)}${what}`;
      const answer = await askPeer(peer, { method: 'GET', path, maxAnswerBytes: MAX_LOG_BYTES * 2 });
      return answer.status === 200 ? answer : refusedBy(peer, answer).message;
    } catch (error) {
      if (error instanceof RelayFailure) return error.message;
      throw error;
    }
  }
}

async function askRq(peer: Peer, path: string, what: '' | '/log') {
  const file = what === '' ? `${path}.json` : `${path}/log/stdio.log`;
  const headers = what === '' ? {} : { range: `bytes=-${MAX_LOG_BYTES}` };
  const answer = await askPeer(peer, { method: 'GET', path: file, headers, maxAnswerBytes: MAX_LOG_BYTES * 2 });
  return answer.status === 200 || answer.status === 206 ? answer : refusedBy(peer, answer).message;
}
