/**
 * How a node authenticates to another, in a header:
 *
 *     Authorization: Node <caller id> <time> <proof>          Node-Proof: <proof of the answer>
 *
 * A proof is valid for one request, to one node, for a minute by the store's clock: a node that gets it by mistake
 * cannot use it elsewhere. The answer authenticates the other side, before any of it is used.
 */
import type { NodeSecret } from './node-secret.ts';

export const NODE_SCHEME = 'Node';
export const PROOF_HEADER = 'node-proof';
const VALID_MS = 60_000;
const SHAPE = /^Node ([0-9a-f-]{36}) (\d{1,15}) ([A-Za-z0-9_-]{43})$/;

export interface NodeRequestKey {
  /** Id of the called node. */
  readonly to: string;
  readonly method: string;
  /** Including the query. */
  readonly path: string;
}

export interface ProvenCall {
  readonly authorization: string;
  /** The proof that the answer must have. */
  readonly answer: string;
}

export function proveCall(secret: NodeSecret, request: NodeRequestKey, by: { id: string; now: number }): ProvenCall {
  const proof = secret.prove(provenFields(request, by.id, String(by.now)));
  return { authorization: `${NODE_SCHEME} ${by.id} ${by.now} ${proof}`, answer: proofOfAnswer(secret, request, proof) };
}

export interface NodeCaller {
  readonly id: string;
  /** Sent with the answer. */
  readonly answer: string;
}

/** Returns null unless a node sent this request to us now. `now` is the store's time. */
export function nodeCaller(
  secret: NodeSecret,
  authorization: string,
  request: NodeRequestKey & { readonly now: number },
): NodeCaller | null {
  const [, id, at, proof] = SHAPE.exec(authorization) ?? [];
  if (id === undefined || at === undefined || proof === undefined) return null;
  if (Math.abs(request.now - Number(at)) > VALID_MS) return null;
  if (!secret.isProven(proof, provenFields(request, id, at))) return null;
  return { id, answer: proofOfAnswer(secret, request, proof) };
}

const provenFields = ({ to, method, path }: NodeRequestKey, from: string, at: string): readonly string[] => [
  'call',
  from,
  to,
  at,
  method,
  path,
];

const proofOfAnswer = (secret: NodeSecret, { to }: NodeRequestKey, proof: string): string =>
  secret.prove(['answer', to, proof]);
