/**
 * The hashes of uploads between two appends. `take` transfers ownership: a hash returns only from an append that left
 * hash and file consistent.
 */
import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { hashFile } from '../blobs/scan-file.ts';

/** An evicted hash is rebuilt from the file: this only bounds the memory. */
const LIMIT = 256;

export class HashCache {
  readonly #known = new Map<string, { readonly hash: Hash; readonly length: number }>();

  put(id: string, hash: Hash, length: number): void {
    this.#known.set(id, { hash, length });
    const [oldest] = this.#known.keys();
    if (this.#known.size > LIMIT && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Returns the hash of the first `length` bytes, from the cache or by reading them. */
  async take(id: string, handle: FileHandle, length: number): Promise<Hash> {
    const known = this.#known.get(id);
    this.#known.delete(id);
    return known?.length === length ? known.hash : hashFile(handle, 'sha256', length);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }
}
