/**
 * The lease table: shared memory into which the main thread writes the leases it holds, and from which the lease renewer
 * reads them.
 *
 * For a job of a millisecond, two messages to the renewer would cost more than the job itself. Therefore the start and
 * the end of an attempt are a few writes to memory, and the renewer reads them when a renewal may be due. It needs
 * nothing of the main thread for that, which may be blocked.
 *
 * Invariant: only the main thread writes a lease. The sequence number of an entry is odd while it is being written. A
 * reader that finds it odd, or changed, has read parts of two leases and skips the entry until its next tick.
 *
 * The renewer writes one thing into an entry: until when it has renewed the lease, and the token of that lease, because
 * the entry may have another one by then.
 */

export interface TableLease {
  readonly id: string;
  readonly token: number;
  readonly ms: number;
  /** The time from one renewal to the next. */
  readonly heartbeatMs: number;
  /** The end of the lease without a renewal, on the monotonic clock that all threads share. */
  readonly validUntil: number;
}

/** A lease as the renewer reads it. */
export interface ReadLease extends TableLease {
  readonly entry: number;
}

// Int32: turns of the main thread's event loop, claims. Then the entries: Int32 sequence, Int32 length of the id, Float64 token
// (0 when free), Float64 validUntil, Float64 ms, Float64 heartbeatMs, of the renewer Float64 token and Float64 end of its last
// renewal, and the bytes of the id.
const HEAD_BYTES = 16;
const ENTRY_BYTES = 184;
const ID_AT = 56;
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

  /** How many more leases fit. */
  get room(): number {
    return this.#free.length;
  }

  /** Returns the entry, for `hide` and `erase`. */
  write(lease: TableLease): number {
    const entry = this.#free.pop();
    if (entry === undefined) throw new Error('the lease table is full: more jobs were claimed than it has room for');
    const at = HEAD_BYTES + entry * ENTRY_BYTES;
    Atomics.add(this.#ints, at >> 2, 1);
    this.#ints[(at >> 2) + 1] = this.#writeId(lease.id, at + ID_AT);
    this.#floats[(at >> 3) + 1] = lease.token;
    this.#floats[(at >> 3) + 2] = lease.validUntil;
    this.#floats[(at >> 3) + 3] = lease.ms;
    this.#floats[(at >> 3) + 4] = lease.heartbeatMs;
    Atomics.add(this.#ints, at >> 2, 1);
    return entry;
  }

  /** Ends the renewal of a lease; its entry stays taken. */
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

  /** Returns until when the renewer has renewed a lease; -Infinity if it has not. */
  renewedUntil(entry: number, token: number): number {
    const at = (HEAD_BYTES + entry * ENTRY_BYTES) >> 3;
    // The token first: the renewer writes it last.
    return this.#floats[at + 5] === token ? (this.#floats[at + 6] ?? 0) : Number.NEGATIVE_INFINITY;
  }

  /** Records that the event loop turns. */
  countTurn(): void {
    Atomics.add(this.#ints, 0, 1);
  }

  /** Records that a claim was sent: the store has heard from this worker. */
  countClaim(): void {
    Atomics.add(this.#ints, 1, 1);
  }

  #writeId(id: string, at: number): number {
    const written = this.#bytes.write(id, at, MAX_ID_BYTES, 'utf8');
    if (written < id.length) throw new Error(`the id of job ${id} is longer than ${MAX_ID_BYTES} bytes`);
    return written;
  }
}

/** The lease renewer's side of a lease table. */
export class LeaseTableReader {
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

  get turns(): number {
    return Atomics.load(this.#ints, 0);
  }

  get claims(): number {
    return Atomics.load(this.#ints, 1);
  }

  /** Visits every lease in the table. `read` returns null when the entry changed meanwhile. */
  each(visit: (token: number, read: () => ReadLease | null) => void): void {
    for (let entry = 0; entry < this.#capacity; entry += 1) {
      const at = HEAD_BYTES + entry * ENTRY_BYTES;
      const sequence = Atomics.load(this.#ints, at >> 2);
      const token = this.#floats[(at >> 3) + 1] ?? 0;
      if (token === 0 || sequence % 2 !== 0) continue;
      visit(token, () => this.#read(entry, sequence));
    }
  }

  /** Shows the main thread until when a lease is renewed. The end never shrinks, so it may be read at any moment. */
  showRenewal({ entry, token }: { readonly entry: number; readonly token: number }, until: number): void {
    const at = (HEAD_BYTES + entry * ENTRY_BYTES) >> 3;
    this.#floats[at + 6] = until;
    this.#floats[at + 5] = token;
  }

  #read(entry: number, sequence: number): ReadLease | null {
    const at = HEAD_BYTES + entry * ENTRY_BYTES;
    const length = this.#ints[(at >> 2) + 1] ?? 0;
    const lease = {
      entry,
      id: this.#bytes.toString('utf8', at + ID_AT, at + ID_AT + length),
      token: this.#floats[(at >> 3) + 1] ?? 0,
      validUntil: this.#floats[(at >> 3) + 2] ?? 0,
      ms: this.#floats[(at >> 3) + 3] ?? 0,
      heartbeatMs: this.#floats[(at >> 3) + 4] ?? 0,
    };
    return Atomics.load(this.#ints, at >> 2) === sequence ? lease : null;
  }
}
