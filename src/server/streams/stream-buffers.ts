/**
 * Bounds the unread bytes of all event streams of a server.
 *
 * Invariant: the sum of unread bytes stays below the limit. Before it would exceed the limit, the slowest readers are
 * dropped: those whose bytes have waited longest.
 */

/** The limit of unread bytes over all event streams of a node. */
export const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** Above this share of the limit, a count of the unread bytes drops readers. */
const FULL_SHARE = 3 / 4;
/** It drops readers until this share is reached. The gap makes counts rare: one per quarter of the limit written. */
const KEPT_SHARE = 1 / 2;

/** The part of a response that this class needs. */
export interface Reader {
  readonly writableLength: number;
  once(event: 'close', listener: () => void): unknown;
  on(event: 'drain', listener: () => void): unknown;
  destroy(): unknown;
}

interface Buffered {
  /** Since when the unread bytes wait. */
  waitsSince: number;
}

export class StreamBuffers {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #readers = new Map<Reader, Buffered>();
  /** An upper bound of the unread bytes: bytes that were read are subtracted at the next count. */
  #atMost = 0;

  constructor(limit: number = MAX_UNREAD_BYTES, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** The number of open streams. */
  get size(): number {
    return this.#readers.size;
  }

  /** The unread bytes of all streams. */
  get unreadBytes(): number {
    let bytes = 0;
    for (const { writableLength } of this.#readers.keys()) bytes += writableLength;
    return bytes;
  }

  /** Counts a reader until its connection closes. */
  add(reader: Reader): void {
    const buffered: Buffered = { waitsSince: Number.POSITIVE_INFINITY };
    this.#readers.set(reader, buffered);
    reader.on('drain', () => (buffered.waitsSince = Number.POSITIVE_INFINITY));
    reader.once('close', () => this.#readers.delete(reader));
  }

  /** Reserves room for bytes before they are written to a reader. */
  reserve(reader: Reader, bytes: number): void {
    const buffered = this.#readers.get(reader);
    if (buffered === undefined) return;
    if (reader.writableLength === 0) buffered.waitsSince = this.#now();
    this.#atMost += bytes;
    if (this.#atMost > this.#limit) this.#count(bytes);
  }

  #count(bytes: number): void {
    this.#atMost = this.unreadBytes + bytes;
    if (this.#atMost <= this.#limit * FULL_SHARE) return;
    const slowestFirst = [...this.#readers]
      .filter(([{ writableLength }]) => writableLength > 0)
      .sort(([, one], [, other]) => one.waitsSince - other.waitsSince);
    for (const [reader] of slowestFirst) {
      if (this.#atMost <= this.#limit * KEPT_SHARE) return;
      this.#atMost -= reader.writableLength;
      this.#readers.delete(reader);
      reader.destroy();
    }
  }
}
