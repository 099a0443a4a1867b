/**
 * Verifies all files of the blob store, for `doctor`. It changes nothing: a damaged blob is repaired when the same
 * content is added again, and only its owner has that content.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifExists, withDiskErrors } from './file-errors.ts';
import { isSha256, type Layout } from './layout.ts';
import { verifyBlob } from './verify-blob.ts';

export interface Finding {
  /** `foreign`: not created by Longhaul. `open`: readable or writable by others than its owner. */
  readonly kind: 'damaged' | 'foreign' | 'open';
  /** Relative to the directory of the blob store. */
  readonly path: string;
}

export interface ScrubResult {
  readonly blobs: number;
  readonly bytes: number;
  readonly findings: readonly Finding[];
}

export interface ScrubOptions {
  readonly signal?: AbortSignal;
  /** Called after each blob. */
  readonly onProgress?: (done: { readonly blobs: number; readonly bytes: number }) => void;
}

const OURS = /^[0-9a-f]{64}(\.md5|\.unreferenced|\.doomed-[0-9a-f]{32})?$/;

export async function scrubBlobs(layout: Layout, options: ScrubOptions = {}): Promise<ScrubResult> {
  const done = { blobs: 0, bytes: 0, findings: [] as Finding[] };
  await withDiskErrors('while verifying attachments', async () => {
    for (const shard of (await readdir(layout.folder)).sort()) {
      if (shard === 'uploads') continue;
      const isShard = /^[0-9a-f]{2}$/.test(shard) && (await lstat(join(layout.folder, shard))).isDirectory();
      if (!isShard) done.findings.push({ kind: 'foreign', path: shard });
      else for (const name of (await readdir(join(layout.folder, shard))).sort()) await check(shard, name);
    }
  });
  return done;

  async function check(shard: string, name: string): Promise<void> {
    options.signal?.throwIfAborted();
    const path = `${shard}/${name}`;
    const stats = await ifExists(lstat(join(layout.folder, path)));
    if (stats === null) return;
    if (!OURS.test(name) || !name.startsWith(shard) || !stats.isFile()) {
      return void done.findings.push({ kind: 'foreign', path });
    }
    if ((stats.mode & 0o077) !== 0) done.findings.push({ kind: 'open', path });
    if (!isSha256(name)) return;
    const verdict = await verifyBlob(layout, name);
    if (verdict === 'missing') return;
    if (verdict === 'damaged') done.findings.push({ kind: 'damaged', path });
    done.blobs += 1;
    done.bytes += stats.size;
    options.onProgress?.({ blobs: done.blobs, bytes: done.bytes });
  }
}
