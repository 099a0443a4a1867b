/**
 * Deletes blobs that nothing refers to any more, an hour after the last reference, and uploads that were given up.
 *
 * No locks, since a lock outlives the process that was killed while it held it. A blob is first taken out of sight
 * by a rename, which only one sweep can win; then everything is looked at once more; then it is deleted or put back:
 *
 *     ab/<sha> ──rename──▶ ab/<sha>.doomed-<random> ──still unreferenced, still old──▶ deleted
 *         ▲────────────── put back ───────┘ referenced, or used in the meantime
 *
 * - An add of the same content makes the blob anew, and what happens to the doomed file no longer matters.
 * - `keep` either touches the blob before the rename, and the second look sees that it is young, or finds it gone
 *   and puts it back. So does every reader.
 * - A crash leaves a doomed file, which readers and the next sweep treat the same way.
 *
 * Must never delete a blob on the word of a reference check that was made before the rename.
 */
import { open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepUploads } from '../uploads/sweep-uploads.ts';
import type { BlobStore } from './blob-store.ts';
import { ifThere, onDisk } from './file-errors.ts';
import { FILE_MODE, isSha256 } from './layout.ts';
import { putBack } from './open-blob.ts';

const HOUR_MS = 3_600_000;

export interface SweepOptions {
  /** Of these hashes, those that something refers to. When it throws, nothing more is deleted. */
  referenced(hashes: readonly string[]): Promise<ReadonlySet<string>>;
  /** How long a blob stays after its last reference, or after its add. Default: an hour. */
  readonly olderThanMs?: number;
  /** How long an upload may stand still. Default: a day. */
  readonly uploadsOlderThanMs?: number;
  readonly signal?: AbortSignal;
}

export interface SweepResult {
  readonly removed: number;
  readonly freedBytes: number;
  /** Uploads and unfinished adds. */
  readonly removedUploads: number;
}

export async function sweepBlobs(blobStore: BlobStore, options: SweepOptions): Promise<SweepResult> {
  const sweep = new Sweep(blobStore, options);
  return onDisk('when attachments were swept', async () => {
    const shards = (await readdir(blobStore.layout.folder)).filter((name) => /^[0-9a-f]{2}$/.test(name));
    for (const shard of shards.sort()) {
      options.signal?.throwIfAborted();
      await sweep.shard(join(blobStore.layout.folder, shard));
    }
    const removedUploads = await sweepUploads(blobStore, options.uploadsOlderThanMs);
    return { removed: sweep.removed, freedBytes: sweep.freedBytes, removedUploads };
  });
}

class Sweep {
  removed = 0;
  freedBytes = 0;
  readonly #blobStore: BlobStore;
  readonly #referenced: SweepOptions['referenced'];
  readonly #olderThanMs: number;

  constructor(blobStore: BlobStore, { referenced, olderThanMs = HOUR_MS }: SweepOptions) {
    this.#blobStore = blobStore;
    this.#referenced = referenced;
    this.#olderThanMs = olderThanMs;
  }

  async shard(path: string): Promise<void> {
    const names = await readdir(path);
    const hashes = names.filter(isSha256);
    const referenced = hashes.length === 0 ? new Set<string>() : await this.#referenced(hashes);
    for (const sha256 of hashes) {
      if (referenced.has(sha256)) await rm(this.#blobStore.layout.unreferenced(sha256), { force: true });
      else if (await this.#isDue(sha256)) await this.#doom(sha256, this.#blobStore.layout.blob(sha256));
    }
    for (const name of names.filter((each) => each.includes('.doomed-'))) {
      await this.#doom(name.slice(0, 64), join(path, name));
    }
  }

  /** Notes when it was first found unreferenced; due once that, and its last use, are long enough ago. */
  async #isDue(sha256: string): Promise<boolean> {
    const { layout, now } = this.#blobStore;
    const mark = layout.unreferenced(sha256);
    const seenAt = (await ifThere(stat(mark)))?.mtimeMs;
    // A mark from the future was made before the clock went back, and would keep the blob until then.
    if (seenAt === undefined || seenAt > now()) await makeMark(mark, now());
    const since = Math.min(seenAt ?? now(), now());
    return now() - since >= this.#olderThanMs && (await this.#isOld(layout.blob(sha256)));
  }

  async #isOld(path: string): Promise<boolean> {
    const stats = await ifThere(stat(path));
    return stats !== null && this.#blobStore.now() - stats.mtimeMs >= this.#olderThanMs;
  }

  async #doom(sha256: string, path: string): Promise<void> {
    const { layout } = this.#blobStore;
    const doomed = layout.doomed(sha256);
    // Also what another sweep has left: its owner, should it live, finds the file gone and lets it be.
    if ((await ifThere(rename(path, doomed).then(() => true))) === null) return;
    const isReferenced = (await this.#referenced([sha256])).has(sha256);
    if (isReferenced || !(await this.#isOld(doomed))) return putBack(layout, sha256, doomed);
    const { size } = (await ifThere(stat(doomed))) ?? { size: 0 };
    // What is beside it goes first: were it last, a crash in between would leave it for ever.
    await rm(layout.md5(sha256), { force: true });
    await rm(layout.unreferenced(sha256), { force: true });
    if ((await ifThere(unlink(doomed).then(() => true))) === null) return;
    this.removed += 1;
    this.freedBytes += size;
  }
}

async function makeMark(path: string, now: number): Promise<void> {
  const handle = await open(path, 'w', FILE_MODE);
  try {
    // Through the handle: an add may have taken the mark away again.
    await handle.utimes(now / 1000, now / 1000);
  } finally {
    await handle.close();
  }
}
