/** What another node answers as JSON, held to a most size: a node is believed, and still nothing it sends may fill the memory. */
import type { Readable } from 'node:stream';

/** Null: it went away in the middle of its answer, or said too much. */
export async function jsonIn(body: Readable, mostBytes: number): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > mostBytes) return null;
      pieces.push(piece);
    }
    return JSON.parse(Buffer.concat(pieces).toString()) as unknown;
  } catch {
    return null;
  }
}
