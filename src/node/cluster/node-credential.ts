/**
 * How one node proves to another that it is one, in a header:
 *
 *     Authorization: Node <id of who asks> <when> <proof>          Node-Proof: <proof of the answer>
 *
 * The proof holds for this one request, to this one node, for a minute by the store's clock: whoever is sent it by mistake
 * learns nothing that is good elsewhere. The answer proves the other side in turn, before a byte of it is believed.
 */
import type { NodeSecret } from './node-secret.ts';

export const NODE_SCHEME = 'Node';
export const PROOF_HEADER = 'node-proof';
const GOOD_FOR_MS = 60_000;
const SHAPE = /^Node ([0-9a-f-]{36}) (\d{1,15}) ([A-Za-z0-9_-]{43})$/;

export interface AskedNode {
  /** Of the node that is asked. */
  readonly to: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

export interface ProvenCall {
  readonly authorization: string;
  /** What an answer of that node must prove itself with. */
  readonly answer: string;
}

export function proveCall(secret: NodeSecret, asked: AskedNode, by: { id: string; now: number }): ProvenCall {
  const proof = secret.prove(wordsOf(asked, by.id, String(by.now)));
  return { authorization: `${NODE_SCHEME} ${by.id} ${by.now} ${proof}`, answer: proofOfAnswer(secret, asked, proof) };
}

export interface NodeCaller {
  readonly id: string;
  /** To be sent with the answer. */
  readonly answer: string;
}

/** Null: no node has said this to us now. `now` is the store's time. */
export function nodeCaller(
  secret: NodeSecret,
  authorization: string,
  asked: AskedNode & { readonly now: number },
): NodeCaller | null {
  const [, id, at, proof] = SHAPE.exec(authorization) ?? [];
  if (id === undefined || at === undefined || proof === undefined) return null;
  if (Math.abs(asked.now - Number(at)) > GOOD_FOR_MS) return null;
  if (!secret.isProven(proof, wordsOf(asked, id, at))) return null;
  return { id, answer: proofOfAnswer(secret, asked, proof) };
}

const wordsOf = ({ to, method, path }: AskedNode, from: string, at: string): readonly string[] => [
  'call',
  from,
  to,
  at,
  method,
  path,
];

const proofOfAnswer = (secret: NodeSecret, { to }: AskedNode, proof: string): string =>
  secret.prove(['answer', to, proof]);
