/**
 * What a finished upload became, kept for as long as an abandoned upload would be. A client whose answer to
 * `finish` was lost asks again and gets the same one.
 *
 * Written before the upload becomes a blob and without fsync: a receipt whose blob is not there says nothing,
 * and one that was lost costs a repeated upload.
 */
import { open, readFile } from 'node:fs/promises';
import type { BlobInfo } from '../blobs/blob-store.ts';
import { ifThere } from '../blobs/file-errors.ts';
import { FILE_MODE, isSha256, type Layout } from '../blobs/layout.ts';
import { writeAll } from '../blobs/scan-file.ts';

export async function writeReceipt(layout: Layout, id: string, { sha256, size }: BlobInfo): Promise<void> {
  const handle = await open(layout.receipt(id), 'w', FILE_MODE);
  try {
    await writeAll(handle, Buffer.from(`${sha256} ${size}\n`), 0);
  } finally {
    await handle.close();
  }
}

/** Null when there is none, or one that a crash has left half written. */
export async function readReceipt(layout: Layout, id: string): Promise<BlobInfo | null> {
  const line = await ifThere(readFile(layout.receipt(id), 'utf8'));
  const [sha256 = '', size = ''] = line?.endsWith('\n') ? line.trimEnd().split(' ') : [];
  return isSha256(sha256) && /^\d{1,16}$/.test(size) ? { sha256, size: Number(size) } : null;
}
