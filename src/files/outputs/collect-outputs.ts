/**
 * Takes what a script has left in its output folder into blobs. To be called once no process of the attempt is
 * left; a file that changes all the same is noticed and refused. Can be repeated: the same files are the same blobs.
 */
import { join } from 'node:path';
import { addFromPath } from '../blobs/add-blob.ts';
import type { BlobInfo, BlobStore } from '../blobs/blob-store.ts';
import { type FoundOutput, listOutputs, type OutputLimits, type RefusedOutput } from './list-outputs.ts';

/** Small files mostly wait for the disk, which serves a few as fast as one. */
const AT_ONCE = 4;
const REPORTED = 1_000;

export type CollectOptions = Partial<OutputLimits>;

export interface Output extends BlobInfo {
  /** Relative to the output folder, with slashes; each part is a good attachment name. */
  readonly path: string;
}

export interface Collected {
  readonly outputs: readonly Output[];
  /** The first thousand of those that were not taken, each with the reason. */
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
  const waiting = [...files];
  const outputs: Output[] = [];
  const notTaken = [...refused];
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const taken = await take(blobStore, folder, { file: next, owner });
      if ('sha256' in taken) outputs.push(taken);
      else notTaken.push(taken);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
  for (const each of lanes) if (each.status === 'rejected') throw each.reason;
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
  return {
    outputs: outputs.sort(byPath),
    refused: notTaken.sort(byPath).slice(0, REPORTED),
    refusedCount: notTaken.length,
  };
}

async function take(
  blobStore: BlobStore,
  folder: string,
  { file, owner }: { file: FoundOutput; owner: number },
): Promise<Output | RefusedOutput> {
  const { path, size } = file;
  const added = await addFromPath(blobStore, join(folder, path), { owner, isSole: true });
  if (!added.ok) return { path, reason: added.refusal.message };
  // Counted against the limits as it was seen, so it must still be that long.
  if (added.blob.size !== size) return { path, reason: 'changed while it was collected' };
  return { path, ...added.blob };
}
