/** The last step of an upload: what arrived is checked, then becomes a blob. Nothing is seen before that. */
import type { AddBlobResult, BlobInfo, Depot } from './depot.ts';
import { type Content, type Expected, findMismatch } from './expected.ts';
import { rememberMd5 } from './md5-beside.ts';
import { openBlob } from './open-blob.ts';
import { readReceipt, writeReceipt } from './receipt.ts';

export interface FinishedContent extends Content {
  readonly expected: Expected;
}

export async function finishUpload(depot: Depot, id: string, content: FinishedContent): Promise<AddBlobResult> {
  const mismatch = await findMismatch(content, content.expected);
  if (mismatch !== null) return mismatch;
  await writeReceipt(depot.layout, id, content);
  return shelve(depot, depot.layout.partial(id), content);
}

/** A file whose content was checked becomes a blob. */
export async function shelve(depot: Depot, path: string, content: FinishedContent): Promise<AddBlobResult> {
  const { handle, sha256, size, expected } = content;
  await depot.publish({ path, handle, sha256 });
  if (expected.md5 !== undefined) await rememberMd5(depot, sha256, expected.md5);
  return { ok: true, blob: { sha256, size } };
}

/** What the upload of this id became, as long as that is still there. */
export async function finishedBefore(depot: Depot, id: string): Promise<BlobInfo | null> {
  const receipt = await readReceipt(depot.layout, id);
  const handle = receipt === null ? null : await openBlob(depot.layout, receipt.sha256);
  await handle?.close();
  return handle === null ? null : receipt;
}
