/**
 * Another node as a relay sees it: where it is, what is needed to speak to it, and a call whose answer is understood.
 *
 * Invariant: the token goes into the header of a call to its own destination and nowhere else; whatever an answer says is
 * cut short and freed of it before anybody sees it.
 */
import { randomBytes } from 'node:crypto';
import type { Outbound } from '../../outbound/outbound.ts';
import type { OutboundCall, OutboundTimes } from '../../outbound/outbound-call.ts';
import type { Pacer } from '../../outbound/pacer.ts';
import type { RelayCode } from './relay-failure.ts';
import { RelayFailure } from './relay-failure.ts';

export interface Peer {
  readonly base: string;
  readonly token: string | null;
  readonly outbound: Outbound;
  readonly times: OutboundTimes;
  readonly pacer: Pacer | null;
  readonly signal: AbortSignal;
}

export interface PeerCall extends Pick<OutboundCall, 'method' | 'headers' | 'body' | 'maxAnswerBytes'> {
  /** Below the base address. */
  readonly path: string;
}

export interface PeerAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Undefined where it is no JSON. */
  readonly json: unknown;
}

const MOST_WORDS = 300;

/** Whatever comes back with a status is an answer; throws RelayFailure where none came. */
export async function askPeer(peer: Peer, { path, headers, ...call }: PeerCall): Promise<PeerAnswer> {
  const answer = await peer.outbound.call({
    ...call,
    url: new URL(path, peer.base),
    headers: { ...headers, ...(peer.token !== null && { authorization: `Bearer ${peer.token}` }) },
    signal: peer.signal,
    times: peer.times,
  });
  if (!answer.ok) throw new RelayFailure(answer.problem.code, `${peer.base}: ${answer.problem.message}`);
  const text = answer.body.toString();
  return { status: answer.status, headers: answer.headers, text, json: parsed(text) };
}

const CODES: Readonly<Record<number, RelayCode>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'no-such-queue',
  413: 'no-space',
  503: 'queue-closed',
  507: 'no-space',
};

/** What a no means, in the other node's own words. */
export function refusedBy(peer: Peer, { status, json, text }: PeerAnswer, code = CODES[status]): RelayFailure {
  const said = (json as { detail?: unknown } | undefined)?.detail;
  const words =
    typeof said === 'string'
      ? said
      : text
          .replace(/<[^>]*>/g, ' ')
          .replace(/\s+/g, ' ')
          .trim();
  const isLoop = words.startsWith('relay loop detected');
  return new RelayFailure(
    isLoop ? 'loop' : (code ?? 'refused'),
    `${peer.base} answered ${status}: ${clean(peer, words)}`,
  );
}

function clean({ token }: Peer, words: string): string {
  const free = token === null ? words : words.replaceAll(token, '…');
  return free.length <= MOST_WORDS ? free : `${free.slice(0, MOST_WORDS)}…`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A line between the parts of a form that stands in none of them. */
export const boundaryOf = (): string => `longhaul-${randomBytes(18).toString('hex')}`;
