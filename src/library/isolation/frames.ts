/**
 * Messages over a stream of bytes: the length in four bytes, then the message as V8 serializes it. Both ends run the same
 * program, so the format of V8 is the same.
 */
import { deserialize, serialize } from 'node:v8';

const HEADER_BYTES = 4;

export function toFrame(message: unknown): Buffer {
  const body = serialize(message);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  frame.writeUInt32LE(body.length);
  body.copy(frame, HEADER_BYTES);
  return frame;
}

/** Returns a function that takes chunks and calls `receive` with each complete message. */
export function createFrameReader(receive: (message: unknown) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let length = 0;
  let needed = HEADER_BYTES;
  return (chunk) => {
    parts.push(chunk);
    length += chunk.length;
    if (length < needed) return;
    let bytes = parts.length === 1 ? chunk : Buffer.concat(parts);
    for (;;) {
      needed = bytes.length < HEADER_BYTES ? HEADER_BYTES : HEADER_BYTES + bytes.readUInt32LE();
      if (bytes.length < needed) break;
      const body = bytes.subarray(HEADER_BYTES, needed);
      bytes = bytes.subarray(needed);
      receive(deserialize(body));
    }
    parts = bytes.length === 0 ? [] : [bytes];
    length = bytes.length;
  };
}
