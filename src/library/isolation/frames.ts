/**
 * Messages over a stream of bytes: the length in four bytes, the format in one, then the message. Most are JSON, which is
 * several times cheaper. Values that JSON would change are sent as V8 serializes them; both ends run the same program.
 */
import { deserialize, serialize } from 'node:v8';

const HEADER_BYTES = 5;
const FORMAT_AT = 4;
const JSON_FORMAT = 1;
const V8_FORMAT = 2;

/** Returns the bytes of a message of texts, numbers, booleans, null, lists and plain objects, after those of a prefix. */
export function toJsonFrame(message: unknown, prefix: Uint8Array | null = null): Buffer {
  const text = JSON.stringify(message);
  const before = prefix?.length ?? 0;
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(before + HEADER_BYTES + length);
  if (prefix !== null) frame.set(prefix);
  frame.writeUInt32LE(length, before);
  frame[before + FORMAT_AT] = JSON_FORMAT;
  frame.write(text, before + HEADER_BYTES);
  return frame;
}

/** Returns the bytes of a message of any values that can be cloned. */
export function toFrame(message: unknown): Buffer {
  const body = serialize(message);
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(body.length);
  header[FORMAT_AT] = V8_FORMAT;
  return Buffer.concat([header, body]);
}

/** Returns where the frame that begins at a place ends; an end beyond the bytes when it is not complete. */
export function frameEnd(bytes: Buffer, at: number): number {
  const start = at + HEADER_BYTES;
  return bytes.length < start ? start : start + bytes.readUInt32LE(at);
}

/** Returns the message of a complete frame. */
export function messageAt(bytes: Buffer, at: number, end: number): unknown {
  const start = at + HEADER_BYTES;
  if (bytes[at + FORMAT_AT] === JSON_FORMAT) return JSON.parse(bytes.toString('utf8', start, end)) as unknown;
  return deserialize(bytes.subarray(start, end));
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
    const bytes = parts.length === 1 ? chunk : Buffer.concat(parts);
    let at = 0;
    for (let end = frameEnd(bytes, at); end <= bytes.length; end = frameEnd(bytes, at)) {
      const message = messageAt(bytes, at, end);
      at = end;
      receive(message);
    }
    needed = frameEnd(bytes, at) - at;
    parts = at === bytes.length ? [] : [bytes.subarray(at)];
    length = bytes.length - at;
  };
}
