/** Reads the JSON answer of another node, up to a maximum size: even a trusted node must not exhaust the memory. */
import type { Readable } from 'node:stream';

/** Returns null if the answer is incomplete, malformed or too large. */
export async function jsonIn(body: Readable, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return null;
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    return null;
  }
}
