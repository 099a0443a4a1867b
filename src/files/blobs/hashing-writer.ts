/**
 * Appends bytes to a file and hashes them. While the thread pool writes one buffer, the other fills: receiving, hashing
 * and writing overlap, in one megabyte of memory at any rate.
 *
 * Invariant: after a failure the hash may have seen bytes that the file has not. Then both are discarded, or the hash
 * is rebuilt from the file.
 */
import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { FreeSpace } from './free-space.ts';
import { writeAll } from './scan-file.ts';
import { syncFile } from './sync-file.ts';

const BUFFER_BYTES = 512 * 1024;
/** The file is flushed after this many bytes, so that the last fsync has little left to do. */
const FLUSH_BYTES = 32 * 1024 * 1024;

export interface HashingWriterOptions {
  readonly handle: FileHandle;
  readonly hash: Hash;
  readonly position: number;
  readonly space: FreeSpace;
}

export class HashingWriter {
  readonly #options: HashingWriterOptions;
  readonly #buffers = [Buffer.allocUnsafeSlow(BUFFER_BYTES), Buffer.allocUnsafeSlow(BUFFER_BYTES)] as const;
  #current: 0 | 1 = 0;
  #filled = 0;
  #position: number;
  #unflushed = 0;
  #writing: Promise<void> = Promise.resolve();
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: HashingWriterOptions) {
    this.#options = options;
    this.#position = options.position;
  }

  /** The length of the file once everything passed in is written. */
  get length(): number {
    return this.#position + this.#filled;
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let taken = 0; taken < chunk.length; ) {
      const part = chunk.subarray(taken, taken + BUFFER_BYTES - this.#filled);
      this.#buffers[this.#current].set(part, this.#filled);
      this.#filled += part.length;
      taken += part.length;
      if (this.#filled === BUFFER_BYTES) await this.#swap();
    }
  }

  /** Resolves when every byte is written and nothing is pending, also after a failure. */
  async end(): Promise<void> {
    try {
      await this.#swap();
      await this.#writing;
      await this.#flushing;
    } finally {
      await Promise.allSettled([this.#writing, this.#flushing]);
    }
  }

  /** Passes the full buffer to the thread pool, hashes it meanwhile, and continues with the other one. */
  async #swap(): Promise<void> {
    await this.#writing;
    const bytes = this.#buffers[this.#current].subarray(0, this.#filled);
    this.#writing = writeAll(this.#options.handle, bytes, this.#position);
    this.#writing.catch(() => undefined);
    this.#options.hash.update(bytes);
    this.#position += bytes.length;
    this.#unflushed += bytes.length;
    this.#filled = 0;
    this.#current = this.#current === 0 ? 1 : 0;
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
