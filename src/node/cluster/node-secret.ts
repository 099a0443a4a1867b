/**
 * The secret that the nodes of a store share, kept among its records and given out by no route. With it a node proves
 * who it is; it never travels.
 *
 * What is proven is always a list of words, each with its length before it, so that no two lists look the same.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Records } from '../../core/ports/records.ts';

export const NODE_SECRET_RECORD = 'node-secret';
const KEY = 'nodes';
const SECRET_BYTES = 32;

export class NodeSecret {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  prove(words: readonly string[]): string {
    const hmac = createHmac('sha256', this.#secret);
    for (const word of words) hmac.update(`${Buffer.byteLength(word)}:${word}`);
    return hmac.digest('base64url');
  }

  isProven(proof: string, words: readonly string[]): boolean {
    const [given, right] = [Buffer.from(proof, 'base64url'), Buffer.from(this.prove(words), 'base64url')];
    return given.length === right.length && timingSafeEqual(given, right);
  }
}

/** Whoever comes first makes it. */
export async function openNodeSecret(records: Records): Promise<NodeSecret> {
  const value = JSON.stringify(randomBytes(SECRET_BYTES).toString('base64url'));
  await records.put({ kind: NODE_SECRET_RECORD, key: KEY, value, ifVersion: 0 });
  const record = await records.get(NODE_SECRET_RECORD, KEY);
  if (record === null) throw new Error('a record that was put is there');
  return new NodeSecret(Buffer.from(JSON.parse(record.value) as string, 'base64url'));
}
