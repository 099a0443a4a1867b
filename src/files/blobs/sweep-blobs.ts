/**
 * Deletes blobs an hour after their last reference, and abandoned uploads.
 *
 * There are no locks, because a lock outlives a process that was killed while it held it. A blob is first hidden by a
 * rename, which only one sweep can win. Then everything is checked once more. Then it is deleted or restored:
 *
 *     ab/<sha> ──rename──▶ ab/<sha>.doomed-<random> ──still unreferenced, still old──▶ deleted
 *         ▲────────────── restored ───────┘ referenced, or used in the meantime
 *
 * - An add of the same content creates the blob again, and the hidden file no longer matters.
 * - `keep` either touches the blob before the rename, and the second check sees that it is young, or finds it hidden
 *   and restores it. So does every reader.
 * - A crash leaves a hidden file, which readers and the next sweep treat the same way.
 *
 * It must never delete a blob because of a reference check that was made before the rename.
 */
import { open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepUploads } from '../uploads/sweep-uploads.ts';
import type { BlobStore } from './blob-store.ts';
import { ifExists, withDiskErrors } from './file-errors.ts';
import { FILE_MODE, isSha256 } from './layout.ts';
import { restoreBlob } from './open-blob.ts';

const HOUR_MS = 3_600_000;

export interface SweepOptions {
  /** Returns those of the hashes that are referenced. When it throws, nothing more is deleted. */
  referenced(hashes: readonly string[]): Promise<ReadonlySet<string>>;
  /** How long a blob stays after its last reference, or after its add. Default: an hour. */
  readonly olderThanMs?: number;
  /** How long an upload may be idle. Default: a day. */
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
  return withDiskErrors('while sweeping attachments', async () => {
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

  /** Records when the blob was first found unreferenced. It is due when that and its last use are long enough ago. */
  async #isDue(sha256: string): Promise<boolean> {
    const { layout, now } = this.#blobStore;
    const marker = layout.unreferenced(sha256);
    const seenAt = (await ifExists(stat(marker)))?.mtimeMs;
    // A marker from the future was made before the clock stepped back, and would keep the blob until then.
    if (seenAt === undefined || seenAt > now()) await writeMarker(marker, now());
    const since = Math.min(seenAt ?? now(), now());
    return now() - since >= this.#olderThanMs && (await this.#isOld(layout.blob(sha256)));
  }

  async #isOld(path: string): Promise<boolean> {
    const stats = await ifExists(stat(path));
    return stats !== null && this.#blobStore.now() - stats.mtimeMs >= this.#olderThanMs;
  }

  async #doom(sha256: string, path: string): Promise<void> {
    const { layout } = this.#blobStore;
    const doomed = layout.doomed(sha256);
    // Includes files that another sweep left. If that sweep is alive, it finds the file gone and continues.
    if ((await ifExists(rename(path, doomed).then(() => true))) === null) return;
    const isReferenced = (await this.#referenced([sha256])).has(sha256);
    if (isReferenced || !(await this.#isOld(doomed))) return restoreBlob(layout, sha256, doomed);
    const { size } = (await ifExists(stat(doomed))) ?? { size: 0 };
    // Companion files are deleted first: a crash before the last step would leave them forever.
    await rm(layout.md5(sha256), { force: true });
    await rm(layout.unreferenced(sha256), { force: true });
    if ((await ifExists(unlink(doomed).then(() => true))) === null) return;
    this.removed += 1;
    this.freedBytes += size;
  }
}

async function writeMarker(path: string, now: number): Promise<void> {
  const handle = await open(path, 'w', FILE_MODE);
  try {
    // Through the handle: an add may have removed the marker meanwhile.
    await handle.utimes(now / 1000, now / 1000);
  } finally {
    await handle.close();
  }
}
