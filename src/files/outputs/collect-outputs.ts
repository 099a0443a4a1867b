/**
 * Adds the files in the output directory of a script as blobs. Called when no process of the attempt is left; a file
 * that changes nevertheless is refused. Can be repeated: the same files give the same blobs.
 */
import { join } from 'node:path';
import { addFromPath } from '../blobs/add-blob.ts';
import type { BlobInfo, BlobStore } from '../blobs/blob-store.ts';
import { type FoundOutput, listOutputs, type OutputLimits, type RefusedOutput } from './list-outputs.ts';

/** Small files mostly wait for the disk, which serves a few as fast as one. */
const CONCURRENCY = 4;
const MAX_REFUSED = 1_000;

export type CollectOptions = Partial<OutputLimits>;

export interface Output extends BlobInfo {
  /** Relative to the output directory, with slashes; each part is a valid attachment name. */
  readonly path: string;
}

export interface Collected {
  readonly outputs: readonly Output[];
  /** The first 1,000 files that were not collected, each with the reason. */
  readonly refused: readonly RefusedOutput[];
  readonly refusedCount: number;
}

export async function collectOutputs(
  blobStore: BlobStore,
  folder: string,
  options: CollectOptions = {},
): Promise<Collected> {
  const { owner = process.getuid?.() ?? 0, maxFiles = 1_000, maxBytes = blobStore.maxBytes } = options;
  const { files, refused } = await listOutputs(folder, { owner, maxFiles, maxBytes });
  const pending = [...files];
  const outputs: Output[] = [];
  const skipped = [...refused];
  const collectNext = async () => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const collected = await collectFile(blobStore, folder, { file: next, owner });
      if ('sha256' in collected) outputs.push(collected);
      else skipped.push(collected);
    }
  };
  const loops = await Promise.allSettled(Array.from({ length: CONCURRENCY }, collectNext));
  for (const each of loops) if (each.status === 'rejected') throw each.reason;
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
  return {
    outputs: outputs.sort(byPath),
    refused: skipped.sort(byPath).slice(0, MAX_REFUSED),
    refusedCount: skipped.length,
  };
}

async function collectFile(
  blobStore: BlobStore,
  folder: string,
  { file, owner }: { file: FoundOutput; owner: number },
): Promise<Output | RefusedOutput> {
  const { path, size } = file;
  const added = await addFromPath(blobStore, join(folder, path), { owner, isSole: true });
  if (!added.ok) return { path, reason: added.refusal.message };
  // The limits used the listed size, so the size must be the same.
  if (added.blob.size !== size) return { path, reason: 'changed while it was collected' };
  return { path, ...added.blob };
}
