/**
 * Messages over a stream of bytes: the length in four bytes, the format in one, then the message. Most are JSON, which is
 * several times cheaper. Values that JSON would change are sent as V8 serializes them; both ends run the same program.
 */
import { deserialize, serialize } from 'node:v8';

const HEADER_BYTES = 5;
const FORMAT_AT = 4;
const JSON_FORMAT = 1;
const V8_FORMAT = 2;

/** Returns the bytes of a message of texts, numbers, booleans, null, lists and plain objects. */
export function toJsonFrame(message: unknown): Buffer {
  return framed(JSON_FORMAT, Buffer.from(JSON.stringify(message)));
}

/** Returns the bytes of a message of any values that can be cloned. */
export function toFrame(message: unknown): Buffer {
  return framed(V8_FORMAT, serialize(message));
}

function framed(format: number, body: Buffer): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(body.length);
  header[FORMAT_AT] = format;
  return Buffer.concat([header, body]);
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
      const isJson = bytes[FORMAT_AT] === JSON_FORMAT;
      bytes = bytes.subarray(needed);
      receive(isJson ? (JSON.parse(body.toString()) as unknown) : deserialize(body));
    }
    parts = bytes.length === 0 ? [] : [bytes];
    length = bytes.length;
  };
}
