/**
 * Appends bytes to a file and hashes them on the way. While one slot is being written and flushed by the thread
 * pool, the other fills: receiving, hashing and writing overlap, in one megabyte of memory however fast they come.
 *
 * Invariant: after a failure the hash may have seen bytes that the file has not; both are then to be thrown away
 * or the hash rebuilt from the file.
 */
import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { FreeSpace } from './free-space.ts';
import { writeAll } from './scan-file.ts';
import { syncFile } from './sync-file.ts';

const SLOT_BYTES = 512 * 1024;
/** So often the disk is asked to catch up, so that the last fsync has little left to do. */
const FLUSH_BYTES = 32 * 1024 * 1024;

export interface HashingWriterOptions {
  readonly handle: FileHandle;
  readonly hash: Hash;
  readonly position: number;
  readonly space: FreeSpace;
}

export class HashingWriter {
  readonly #options: HashingWriterOptions;
  readonly #slots = [Buffer.allocUnsafeSlow(SLOT_BYTES), Buffer.allocUnsafeSlow(SLOT_BYTES)] as const;
  #place: 0 | 1 = 0;
  #filled = 0;
  #position: number;
  #unflushed = 0;
  #writing: Promise<void> = Promise.resolve();
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: HashingWriterOptions) {
    this.#options = options;
    this.#position = options.position;
  }

  /** The length of the file once everything handed in is written. */
  get length(): number {
    return this.#position + this.#filled;
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let taken = 0; taken < chunk.length; ) {
      const part = chunk.subarray(taken, taken + SLOT_BYTES - this.#filled);
      this.#slots[this.#place].set(part, this.#filled);
      this.#filled += part.length;
      taken += part.length;
      if (this.#filled === SLOT_BYTES) await this.#turn();
    }
  }

  /** Resolved when every byte is written and nothing is under way; also after a failure. */
  async end(): Promise<void> {
    try {
      await this.#turn();
      await this.#writing;
      await this.#flushing;
    } finally {
      await Promise.allSettled([this.#writing, this.#flushing]);
    }
  }

  /** Hands the full slot to the thread pool, hashes it meanwhile, and goes on with the other one. */
  async #turn(): Promise<void> {
    await this.#writing;
    const bytes = this.#slots[this.#place].subarray(0, this.#filled);
    this.#writing = writeAll(this.#options.handle, bytes, this.#position);
    this.#writing.catch(() => undefined);
    this.#options.hash.update(bytes);
    this.#position += bytes.length;
    this.#unflushed += bytes.length;
    this.#filled = 0;
    this.#place = this.#place === 0 ? 1 : 0;
    if (this.#unflushed >= FLUSH_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    this.#unflushed = 0;
    await this.#flushing;
    await this.#options.space.check(0);
    this.#flushing = syncFile(this.#options.handle, 'content');
    this.#flushing.catch(() => undefined);
  }
}
