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
import { checked, integer, object } from '../core/check.ts';
import { addFromPath, addFromStream } from './add-blob.ts';
import type { Blobs } from './blobs.ts';
import { collectOutputs } from './collect-outputs.ts';
import type { Depot } from './depot.ts';
import { onDisk } from './file-errors.ts';
import { createFreeSpace } from './free-space.ts';
import { checkSha256, createLayout, FOLDER_MODE, type Layout } from './layout.ts';
import { md5Of } from './md5-beside.ts';
import { withBlob } from './open-blob.ts';
import { createPublish, makeFolder } from './publish.ts';
import { readBlob } from './read-blob.ts';
import { scrubBlobs } from './scrub-blobs.ts';
import { stageBlob } from './stage-blob.ts';
import { sweepBlobs } from './sweep-blobs.ts';
import { Uploads } from './uploads.ts';
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

function blobsOf(depot: Depot): Blobs {
  const { layout } = depot;
  const uploads = new Uploads(depot);
  return {
    begin: (options) => uploads.begin(options),
    append: (id, append) => uploads.append(id, append),
    finish: (id, expected) => uploads.finish(id, expected),
    upload: (id) => uploads.status(id),
    discard: (id) => uploads.discard(id),
    addFromStream: (source, options) => addFromStream(depot, source, options),
    addFromPath: (path, options) => addFromPath(depot, path, options),
    collect: (folder, options) => collectOutputs(depot, folder, options),
    stat: async (sha256) => statBlob(layout, checkSha256(sha256)),
    read: async (sha256, range) => readBlob(layout, checkSha256(sha256), range),
    md5: async (sha256) => md5Of(depot, checkSha256(sha256)),
    verify: async (sha256) => verifyBlob(layout, checkSha256(sha256)),
    keep: async (sha256) => keepBlob(depot, checkSha256(sha256)),
    stage: (staging) => stageBlob(depot, staging),
    sweep: (options) => sweepBlobs(depot, options),
    scrub: (options) => scrubBlobs(layout, options),
    close: () => uploads.close(),
  };
}

async function statBlob(layout: Layout, sha256: string) {
  const stats = await withBlob(layout, sha256, (path) => stat(path));
  return stats === null ? null : { sha256, size: stats.size };
}

async function keepBlob({ layout, now }: Depot, sha256: string): Promise<boolean> {
  const seconds = now() / 1000;
  const isThere = await withBlob(layout, sha256, (path) => utimes(path, seconds, seconds).then(() => true));
  if (isThere !== null) await rm(layout.unreferenced(sha256), { force: true });
  return isThere !== null;
}
