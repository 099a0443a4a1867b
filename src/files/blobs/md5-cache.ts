/**
 * The MD5 of a blob, for clients that need one. It is computed on first use and stored beside the blob with a checksum,
 * so a damaged file is recomputed and never used.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type BlobRefused, refuseBlob } from './blob-refusal.ts';
import type { BlobStore } from './blob-store.ts';
import { corrupt, ifExists } from './file-errors.ts';
import { FILE_MODE, isMd5 } from './layout.ts';
import { openBlob } from './open-blob.ts';
import { scanFile } from './scan-file.ts';

export type Md5Result = { readonly ok: true; readonly md5: string } | BlobRefused;

export async function md5Of(blobStore: BlobStore, sha256: string): Promise<Md5Result> {
  const handle = await openBlob(blobStore.layout, sha256);
  if (handle === null) return refuseBlob('not-found', `attachment ${sha256} does not exist`);
  try {
    const known = await readMd5(blobStore, sha256);
    if (known !== null) return { ok: true, md5: known };
    const [actual, md5] = [createHash('sha256'), createHash('md5')];
    await scanFile(handle, (bytes) => void (actual.update(bytes), md5.update(bytes)));
    if (actual.digest('hex') !== sha256) throw corrupt(sha256, 'its content has a different hash');
    const answer = md5.digest('hex');
    await storeMd5(blobStore, sha256, answer);
    return { ok: true, md5: answer };
  } finally {
    await handle.close();
  }
}

/** Stores the MD5. It is not fsynced and may fail: a lost or torn file is recomputed. */
export async function storeMd5({ layout }: BlobStore, sha256: string, md5: string): Promise<void> {
  const path = layout.temporary();
  try {
    await writeFile(path, lineOf(sha256, md5), { mode: FILE_MODE, flag: 'wx' });
    await rename(path, layout.md5(sha256));
  } catch {
    await rm(path, { force: true });
  }
}

export async function readMd5({ layout }: BlobStore, sha256: string): Promise<string | null> {
  const line = await ifExists(readFile(layout.md5(sha256), 'utf8'));
  const md5 = line?.slice(0, 32) ?? '';
  return isMd5(md5) && line === lineOf(sha256, md5) ? md5 : null;
}

function lineOf(sha256: string, md5: string): string {
  const check = createHash('sha256').update(`${sha256} ${md5}`).digest('hex').slice(0, 16);
  return `${md5} ${check}\n`;
}
