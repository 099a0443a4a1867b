/**
 * Another node or RQ host: its address and credentials, and a call with a parsed answer.
 *
 * Invariant: the token is sent only in a header to its own destination. Every text of an answer is shortened and
 * stripped of the token before it is shown.
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
  /** Relative to the base URL. */
  readonly path: string;
}

export interface PeerAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Undefined if it is not JSON. */
  readonly json: unknown;
}

const MAX_MESSAGE_LENGTH = 300;

/** Any response with a status is an answer. Throws RelayFailure when none arrived. */
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

/** Returns the failure for a refusal, with the peer's own message. */
export function refusedBy(peer: Peer, { status, json, text }: PeerAnswer, code = CODES[status]): RelayFailure {
  const detail = (json as { detail?: unknown } | undefined)?.detail;
  const message =
    typeof detail === 'string'
      ? detail
      : text
          .replace(/<[^>]*>/g, ' ')
          .replace(/\s+/g, ' ')
          .trim();
  const isLoop = message.startsWith('relay loop detected');
  return new RelayFailure(
    isLoop ? 'loop' : (code ?? 'refused'),
    `${peer.base} answered ${status}: ${clean(peer, message)}`,
  );
}

function clean({ token }: Peer, message: string): string {
  const safe = token === null ? message : message.replaceAll(token, '…');
  return safe.length <= MAX_MESSAGE_LENGTH ? safe : `${safe.slice(0, MAX_MESSAGE_LENGTH)}…`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A boundary for multipart forms. */
export const boundaryOf = (): string => `longhaul-${randomBytes(18).toString('hex')}`;
