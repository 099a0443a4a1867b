/**
 * Finishes an upload: verifies the content, then publishes it as a blob. Nothing is visible before that.
 *
 * A receipt stores the blob of a finished upload for as long as an abandoned upload would be kept. A client that lost the
 * answer to `finish` asks again and gets the same answer. The receipt is written before the blob is published and
 * without fsync: a receipt without its blob is ignored, and a lost one costs a repeated upload.
 */
import { open, readFile } from 'node:fs/promises';
import type { AddBlobResult, BlobInfo, BlobStore } from '../blobs/blob-store.ts';
import { type Content, type Expected, findMismatch } from '../blobs/expected-content.ts';
import { ifExists } from '../blobs/file-errors.ts';
import { FILE_MODE, isSha256, type Layout } from '../blobs/layout.ts';
import { storeMd5 } from '../blobs/md5-cache.ts';
import { openBlob } from '../blobs/open-blob.ts';
import { writeAll } from '../blobs/scan-file.ts';

export interface FinishedContent extends Content {
  readonly expected: Expected;
}

export async function finishUpload(blobStore: BlobStore, id: string, content: FinishedContent): Promise<AddBlobResult> {
  const mismatch = await findMismatch(content, content.expected);
  if (mismatch !== null) return mismatch;
  await writeReceipt(blobStore.layout, id, content);
  return publishBlob(blobStore, blobStore.layout.partial(id), content);
}

/** Publishes a file whose content was verified. */
export async function publishBlob(
  blobStore: BlobStore,
  path: string,
  content: FinishedContent,
): Promise<AddBlobResult> {
  const { handle, sha256, size, expected } = content;
  await blobStore.publish({ path, handle, sha256 });
  if (expected.md5 !== undefined) await storeMd5(blobStore, sha256, expected.md5);
  return { ok: true, blob: { sha256, size } };
}

/** Returns the blob of a finished upload, while it exists. */
export async function findFinished(blobStore: BlobStore, id: string): Promise<BlobInfo | null> {
  const receipt = await readReceipt(blobStore.layout, id);
  const handle = receipt === null ? null : await openBlob(blobStore.layout, receipt.sha256);
  await handle?.close();
  return handle === null ? null : receipt;
}

async function writeReceipt(layout: Layout, id: string, { sha256, size }: BlobInfo): Promise<void> {
  const handle = await open(layout.receipt(id), 'w', FILE_MODE);
  try {
    await writeAll(handle, Buffer.from(`${sha256} ${size}\n`), 0);
  } finally {
    await handle.close();
  }
}

/** Returns null when the receipt is missing, or a crash left it incomplete. */
async function readReceipt(layout: Layout, id: string): Promise<BlobInfo | null> {
  const line = await ifExists(readFile(layout.receipt(id), 'utf8'));
  const [sha256 = '', size = ''] = line?.endsWith('\n') ? line.trimEnd().split(' ') : [];
  return isSha256(sha256) && /^\d{1,16}$/.test(size) ? { sha256, size: Number(size) } : null;
}
