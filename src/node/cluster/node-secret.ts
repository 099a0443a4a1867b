/**
 * The secret shared by the nodes of a store, kept in a record that no route returns. A node authenticates with it; the
 * secret itself is never sent.
 *
 * A proof covers a list of fields, each preceded by its length, so that no two lists have the same encoding.
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

  prove(fields: readonly string[]): string {
    const hmac = createHmac('sha256', this.#secret);
    for (const field of fields) hmac.update(`${Buffer.byteLength(field)}:${field}`);
    return hmac.digest('base64url');
  }

  isProven(proof: string, fields: readonly string[]): boolean {
    const [given, right] = [Buffer.from(proof, 'base64url'), Buffer.from(this.prove(fields), 'base64url')];
    return given.length === right.length && timingSafeEqual(given, right);
  }
}

/** The first node creates it. */
export async function openNodeSecret(records: Records): Promise<NodeSecret> {
  const value = JSON.stringify(randomBytes(SECRET_BYTES).toString('base64url'));
  await records.put({ kind: NODE_SECRET_RECORD, key: KEY, value, ifVersion: 0 });
  const record = await records.get(NODE_SECRET_RECORD, KEY);
  if (record === null) throw new Error('the node secret is missing after it was written');
  return new NodeSecret(Buffer.from(JSON.parse(record.value) as string, 'base64url'));
}
