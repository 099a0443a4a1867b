/** The last step of an upload: what arrived is checked, then becomes a blob. Nothing is seen before that. */
import type { AddBlobResult, BlobInfo, BlobStore } from '../blobs/blob-store.ts';
import { type Content, type Expected, findMismatch } from '../blobs/expected-content.ts';
import { rememberMd5 } from '../blobs/md5-cache.ts';
import { openBlob } from '../blobs/open-blob.ts';
import { readReceipt, writeReceipt } from './receipt.ts';

export interface FinishedContent extends Content {
  readonly expected: Expected;
}

export async function finishUpload(blobStore: BlobStore, id: string, content: FinishedContent): Promise<AddBlobResult> {
  const mismatch = await findMismatch(content, content.expected);
  if (mismatch !== null) return mismatch;
  await writeReceipt(blobStore.layout, id, content);
  return shelve(blobStore, blobStore.layout.partial(id), content);
}

/** A file whose content was checked becomes a blob. */
export async function shelve(blobStore: BlobStore, path: string, content: FinishedContent): Promise<AddBlobResult> {
  const { handle, sha256, size, expected } = content;
  await blobStore.publish({ path, handle, sha256 });
  if (expected.md5 !== undefined) await rememberMd5(blobStore, sha256, expected.md5);
  return { ok: true, blob: { sha256, size } };
}

/** What the upload of this id became, as long as that is still there. */
export async function finishedBefore(blobStore: BlobStore, id: string): Promise<BlobInfo | null> {
  const receipt = await readReceipt(blobStore.layout, id);
  const handle = receipt === null ? null : await openBlob(blobStore.layout, receipt.sha256);
  await handle?.close();
  return handle === null ? null : receipt;
}
