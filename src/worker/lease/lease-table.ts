/**
 * The table: shared memory on which the main thread writes the leases it holds and the renewer reads them.
 *
 * A job of a millisecond would pay more for two messages to the renewer than for its own work, so starting and
 * ending an attempt are a few writes to memory, and the renewer looks when it is time to renew. It needs nothing of
 * the main thread for that, which may be blocked.
 *
 * Invariant: only the main thread writes. An entry's sequence number is odd while it is being written; a reader
 * that sees it odd, or changed, has seen half of two leases and leaves the entry for its next look.
 */

export interface BoardLease {
  readonly id: string;
  readonly token: number;
  readonly ms: number;
  /** How long after it was given or renewed it is renewed again. */
  readonly beatMs: number;
  /** Until when the lease holds if nobody renews it, by the monotonic clock that all threads share. */
  readonly validUntil: number;
}

// Int32: rounds of the main loop, claims. Then the entries: Int32 sequence, Int32 length of the id, Float64 token
// (0 when free), Float64 validUntil, Float64 ms, Float64 beatMs, and the bytes of the id.
const HEAD_BYTES = 16;
const ENTRY_BYTES = 168;
const ID_AT = 40;
const MAX_ID_BYTES = ENTRY_BYTES - ID_AT;

export class LeaseTable {
  readonly memory: SharedArrayBuffer;
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;
  readonly #bytes: Buffer;
  readonly #free: number[];

  constructor(capacity: number) {
    this.memory = new SharedArrayBuffer(HEAD_BYTES + capacity * ENTRY_BYTES);
    this.#ints = new Int32Array(this.memory);
    this.#floats = new Float64Array(this.memory);
    this.#bytes = Buffer.from(this.memory);
    this.#free = Array.from({ length: capacity }, (_, index) => capacity - 1 - index);
  }

  /** How many more leases can be written. */
  get room(): number {
    return this.#free.length;
  }

  /** Answers the entry, to be erased by. */
  write(lease: BoardLease): number {
    const entry = this.#free.pop();
    if (entry === undefined) throw new Error('the table of leases is full: more was claimed than there was room for');
    const at = HEAD_BYTES + entry * ENTRY_BYTES;
    Atomics.add(this.#ints, at >> 2, 1);
    this.#ints[(at >> 2) + 1] = this.#writeId(lease.id, at + ID_AT);
    this.#floats[(at >> 3) + 1] = lease.token;
    this.#floats[(at >> 3) + 2] = lease.validUntil;
    this.#floats[(at >> 3) + 3] = lease.ms;
    this.#floats[(at >> 3) + 4] = lease.beatMs;
    Atomics.add(this.#ints, at >> 2, 1);
    return entry;
  }

  /** Nobody renews it any more; the entry stays taken. */
  hide(entry: number): void {
    const at = HEAD_BYTES + entry * ENTRY_BYTES;
    Atomics.add(this.#ints, at >> 2, 1);
    this.#floats[(at >> 3) + 1] = 0;
    Atomics.add(this.#ints, at >> 2, 1);
  }

  erase(entry: number): void {
    this.hide(entry);
    this.#free.push(entry);
  }

  /** The main loop came round. */
  countRound(): void {
    Atomics.add(this.#ints, 0, 1);
  }

  /** A claim went out: the store has heard of this worker. */
  countClaim(): void {
    Atomics.add(this.#ints, 1, 1);
  }

  #writeId(id: string, at: number): number {
    const written = this.#bytes.write(id, at, MAX_ID_BYTES, 'utf8');
    if (written < id.length) throw new Error(`the id of job ${id} is longer than ${MAX_ID_BYTES} bytes`);
    return written;
  }
}

/** The renewer's side of a table. */
export class BoardReader {
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;
  readonly #bytes: Buffer;
  readonly #capacity: number;

  constructor(memory: SharedArrayBuffer) {
    this.#ints = new Int32Array(memory);
    this.#floats = new Float64Array(memory);
    this.#bytes = Buffer.from(memory);
    this.#capacity = (memory.byteLength - HEAD_BYTES) / ENTRY_BYTES;
  }

  get rounds(): number {
    return Atomics.load(this.#ints, 0);
  }

  get claims(): number {
    return Atomics.load(this.#ints, 1);
  }

  /** Calls with every lease that stands on the table; `read` answers null when it changed meanwhile. */
  each(visit: (token: number, read: () => BoardLease | null) => void): void {
    for (let entry = 0; entry < this.#capacity; entry += 1) {
      const at = HEAD_BYTES + entry * ENTRY_BYTES;
      const sequence = Atomics.load(this.#ints, at >> 2);
      const token = this.#floats[(at >> 3) + 1] ?? 0;
      if (token === 0 || sequence % 2 !== 0) continue;
      visit(token, () => this.#read(at, sequence));
    }
  }

  #read(at: number, sequence: number): BoardLease | null {
    const length = this.#ints[(at >> 2) + 1] ?? 0;
    const lease = {
      id: this.#bytes.toString('utf8', at + ID_AT, at + ID_AT + length),
      token: this.#floats[(at >> 3) + 1] ?? 0,
      validUntil: this.#floats[(at >> 3) + 2] ?? 0,
      ms: this.#floats[(at >> 3) + 3] ?? 0,
      beatMs: this.#floats[(at >> 3) + 4] ?? 0,
    };
    return Atomics.load(this.#ints, at >> 2) === sequence ? lease : null;
  }
}
