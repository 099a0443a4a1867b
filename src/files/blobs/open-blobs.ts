/**
 * Content-addressed files: attachments on their way in, at rest, and on their way out.
 *
 * Knows no queue, no job and no store. Whoever keeps the rows that refer to blobs writes its row after an add, and
 * tells the sweep what is still referred to; between the two a blob is safe for an hour.
 *
 * Invariant: what can be seen under a hash has been fsynced with that content.
 */
import { mkdir, rm, stat, utimes } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checked, integer, object } from '../../core/input/check.ts';
import { collectOutputs } from '../outputs/collect-outputs.ts';
import { Uploads } from '../uploads/uploads.ts';
import { addFromPath, addFromStream } from './add-blob.ts';
import type { BlobStore } from './blob-store.ts';
import type { Blobs } from './blobs.ts';
import { onDisk } from './file-errors.ts';
import { createFreeSpace } from './free-space.ts';
import { checkSha256, createLayout, FOLDER_MODE, type Layout } from './layout.ts';
import { md5Of } from './md5-cache.ts';
import { withBlob } from './open-blob.ts';
import { createPublish, makeFolder } from './publish.ts';
import { readBlob } from './read-blob.ts';
import { scrubBlobs } from './scrub-blobs.ts';
import { stageBlob } from './stage-blob.ts';
import { sweepBlobs } from './sweep-blobs.ts';
import { verifyBlob } from './verify-blob.ts';

export interface BlobsOptions {
  /** Made when it is not there. */
  readonly folder: string;
  /** The size of the largest attachment. Default: 10 GiB. */
  readonly maxBytes?: number;
  /** What attachments leave free on the disk. Default: 64 MiB. */
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
  await onDisk('when the folder of attachments was made', () => makeFolders(layout));
  const space = createFreeSpace(layout.folder, reserveBytes);
  return blobsOf({ layout, publish: createPublish(layout), space, maxBytes, now, busy: new Set() });
}

async function makeFolders(layout: Layout): Promise<void> {
  await mkdir(resolve(layout.folder, '..'), { recursive: true, mode: FOLDER_MODE });
  await makeFolder(layout.folder);
  await makeFolder(layout.uploads);
}

function blobsOf(blobStore: BlobStore): Blobs {
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
  const isThere = await withBlob(layout, sha256, (path) => utimes(path, seconds, seconds).then(() => true));
  if (isThere !== null) await rm(layout.unreferenced(sha256), { force: true });
  return isThere !== null;
}
