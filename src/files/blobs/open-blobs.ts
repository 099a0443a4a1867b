/**
 * Opens the blob store: content-addressed files for attachments.
 *
 * It knows no queue, no job and no store. The owner of the records that refer to blobs writes its record after an add,
 * and tells the sweep which blobs are referenced; in between a blob is safe for an hour.
 *
 * Invariant: content that is visible under a hash was fsynced with that hash.
 */
import { access, mkdir, rm, stat, utimes } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checked, integer, object } from '../../core/input/check.ts';
import { collectOutputs } from '../outputs/collect-outputs.ts';
import { Uploads } from '../uploads/uploads.ts';
import { addFromPath, addFromStream } from './add-blob.ts';
import type { BlobStore } from './blob-store.ts';
import type { Blobs } from './blobs.ts';
import { withDiskErrors } from './file-errors.ts';
import { createFreeSpace } from './free-space.ts';
import { checkSha256, createLayout, DIRECTORY_MODE, type Layout } from './layout.ts';
import { md5Of } from './md5-cache.ts';
import { withBlob } from './open-blob.ts';
import { createDirectory, createPublish } from './publish.ts';
import { readBlob } from './read-blob.ts';
import { scrubBlobs } from './scrub-blobs.ts';
import { stageBlob } from './stage-blob.ts';
import { sweepBlobs } from './sweep-blobs.ts';
import { verifyBlob } from './verify-blob.ts';

export interface BlobsOptions {
  /** Created when it does not exist. */
  readonly folder: string;
  /** The size of the largest attachment. Default: 10 GiB. */
  readonly maxBytes?: number;
  /** Bytes that attachments leave free on the disk. Default: 64 MiB. */
  readonly reserveBytes?: number;
  readonly now?: () => number;
}

const DEFAULT_MAX_BYTES = 10 * 1024 ** 3;
const DEFAULT_RESERVE_BYTES = 64 * 1024 ** 2;

const limits = object({
  maxBytes: integer(1, Number.MAX_SAFE_INTEGER),
  reserveBytes: integer(0, Number.MAX_SAFE_INTEGER),
});

export async function openBlobs({ folder, now = Date.now, ...rest }: BlobsOptions): Promise<Blobs> {
  const { maxBytes = DEFAULT_MAX_BYTES, reserveBytes = DEFAULT_RESERVE_BYTES } = checked('blobs', rest, limits);
  const layout = createLayout(resolve(folder));
  await withDiskErrors('while creating the attachment directory', () => createDirectories(layout));
  const space = createFreeSpace(layout.folder, reserveBytes);
  return createBlobs({ layout, publish: createPublish(layout), space, maxBytes, now, busy: new Set() });
}

async function createDirectories(layout: Layout): Promise<void> {
  await mkdir(resolve(layout.folder, '..'), { recursive: true, mode: DIRECTORY_MODE });
  await createDirectory(layout.folder);
  await createDirectory(layout.uploads);
}

function createBlobs(blobStore: BlobStore): Blobs {
  const { layout } = blobStore;
  const uploads = new Uploads(blobStore);
  return {
    begin: (options) => uploads.begin(options),
    append: (id, append) => uploads.append(id, append),
    finish: (id, expected) => uploads.finish(id, expected),
    upload: (id) => uploads.status(id),
    discard: (id) => uploads.discard(id),
    addFromStream: (source, options) => addFromStream(blobStore, source, options),
    addFromPath: (path, options) => addFromPath(blobStore, path, options),
    collect: (folder, options) => collectOutputs(blobStore, folder, options),
    stat: async (sha256) => statBlob(layout, checkSha256(sha256)),
    path: async (sha256) => withBlob(layout, checkSha256(sha256), (path) => access(path).then(() => path)),
    read: async (sha256, range) => readBlob(layout, checkSha256(sha256), range),
    md5: async (sha256) => md5Of(blobStore, checkSha256(sha256)),
    verify: async (sha256) => verifyBlob(layout, checkSha256(sha256)),
    keep: async (sha256) => keepBlob(blobStore, checkSha256(sha256)),
    stage: (staging) => stageBlob(blobStore, staging),
    sweep: (options) => sweepBlobs(blobStore, options),
    scrub: (options) => scrubBlobs(layout, options),
    close: () => uploads.close(),
  };
}

async function statBlob(layout: Layout, sha256: string) {
  const stats = await withBlob(layout, sha256, (path) => stat(path));
  return stats === null ? null : { sha256, size: stats.size };
}

async function keepBlob({ layout, now }: BlobStore, sha256: string): Promise<boolean> {
  const seconds = now() / 1000;
  const exists = await withBlob(layout, sha256, (path) => utimes(path, seconds, seconds).then(() => true));
  if (exists !== null) await rm(layout.unreferenced(sha256), { force: true });
  return exists !== null;
}
