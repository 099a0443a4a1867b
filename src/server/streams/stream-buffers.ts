/**
 * The memory that all event streams of a server take together for bytes that their readers have not taken yet.
 *
 * Invariant: the sum of unread bytes stays below the limit. When it would pass the limit, the slowest readers are dropped
 * first: those whose bytes have waited longest.
 */

/** Unread bytes of all event streams of a node together. */
export const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** A count of the unread bytes drops readers above this share of the limit, */
const FULL_SHARE = 3 / 4;
/** until they are below this one. The gap keeps counts rare: one per quarter of the limit that is written. */
const KEPT_SHARE = 1 / 2;

/** The part of a response that is needed here. */
export interface Reader {
  readonly writableLength: number;
  once(event: 'close', listener: () => void): unknown;
  on(event: 'drain', listener: () => void): unknown;
  destroy(): unknown;
}

interface Buffered {
  /** When the bytes began to wait that the reader has not taken yet. */
  waitsSince: number;
}

export class StreamBuffers {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #readers = new Map<Reader, Buffered>();
  /** At least the unread bytes: bytes that were taken are subtracted at the next count. */
  #atMost = 0;

  constructor(limit: number = MAX_UNREAD_BYTES, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** The streams that are open. */
  get size(): number {
    return this.#readers.size;
  }

  /** The bytes of all streams that their readers have not taken yet. */
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

  /** Makes room for bytes that are about to be written to a reader. */
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
