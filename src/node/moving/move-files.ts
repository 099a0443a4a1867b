/**
 * Attachments and logs of a home, copied into another one. Each copy is compared with the original by its hash, a blob with
 * its name; what is there already and the same is left as it is, so it can be repeated. Nothing is removed.
 */
import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LonghaulError } from '../../core/errors.ts';
import { copyOne, plainFiles, sha256Of, sizeOf } from '../copy-file.ts';
import type { Home } from '../home.ts';

export interface FilesResult {
  readonly files: number;
  readonly bytes: number;
}

const BLOB = /^[0-9a-f]{2}\/[0-9a-f]{64}$/;

export async function moveFiles(
  from: Home,
  to: Home,
  onFile: (done: number, of: number) => void,
): Promise<FilesResult> {
  const blobs = await plainFiles(from.blobs, (path) => BLOB.test(path));
  const logs = await plainFiles(from.jobs);
  const all = [
    ...blobs.map((path) => ({ from: join(from.blobs, path), to: join(to.blobs, path), sha256: basename(path) })),
    ...logs.map((path) => ({ from: join(from.jobs, path), to: join(to.jobs, path), sha256: null })),
  ];
  let bytes = 0;
  for (const [place, file] of all.entries()) {
    bytes += await moveFile(file);
    onFile(place + 1, all.length);
  }
  return { files: all.length, bytes };
}

async function moveFile(file: { from: string; to: string; sha256: string | null }): Promise<number> {
  const sha256 = file.sha256 ?? (await sha256Of(file.from));
  const size = await sizeOf(file.from);
  if (size === (await sizeOf(file.to)) && (await hashOf(file.to)) === sha256) return size;
  const draft = `${file.to}.moving`;
  await copyOne(file.from, draft, 'copy');
  if ((await hashOf(draft)) !== sha256)
    throw new LonghaulError(
      'data-corrupt',
      `${file.from} does not have the hash ${sha256}: longhaul doctor --scrub lists such files`,
    );
  await rename(draft, file.to);
  return size;
}

const hashOf = (path: string): Promise<string | null> => sha256Of(path).catch(() => null);
