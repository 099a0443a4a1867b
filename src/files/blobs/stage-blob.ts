/**
 * Puts a blob into the folder of an attempt. The copy is the script's to write into; the blob stays as it is.
 *
 * By reflink where the file system can share blocks until they are written to, else by copying. `link` is a hard
 * link, for files too large to copy: the script must then leave its content alone, and `verify` afterwards tells.
 * Whatever the way, the content is checked against its hash before the script sees it.
 */
import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import { checkAttachmentName } from '../outputs/attachment-name.ts';
import { type BlobRefused, refuseBlob } from './blob-refusal.ts';
import type { BlobStore } from './blob-store.ts';
import { copyHashed } from './copy-hashed.ts';
import { corrupt, errnoOf, onDisk } from './file-errors.ts';
import { checkSha256 } from './layout.ts';
import { openBlob } from './open-blob.ts';
import { makeFile } from './own-file.ts';
import { hashFile } from './scan-file.ts';

export interface Staging {
  readonly sha256: string;
  /** Must be there, and have nothing of that name. */
  readonly folder: string;
  readonly name: string;
  /** Default `copy`. */
  readonly mode?: 'copy' | 'link';
}

export interface Staged {
  readonly ok: true;
  readonly path: string;
  readonly size: number;
  readonly by: 'reflink' | 'copy' | 'link';
}

export async function stageBlob(blobStore: BlobStore, staging: Staging): Promise<Staged | BlobRefused> {
  const { sha256, folder, name, mode = 'copy' } = staging;
  const path = join(folder, checkAttachmentName(name));
  const handle = await openBlob(blobStore.layout, checkSha256(sha256));
  if (handle === null) return refuseBlob('not-found', `there is no attachment ${sha256}`);
  const from = { handle, sha256, path: blobStore.layout.blob(sha256) };
  try {
    return await onDisk('when an attachment was staged', async () => {
      const by = mode === 'link' && (await stageByLink(from, path)) ? 'link' : await stageByCopy(from, path);
      return { ok: true, path, size: (await handle.stat()).size, by };
    });
  } finally {
    await handle.close();
  }
}

interface From {
  readonly handle: FileHandle;
  readonly sha256: string;
  readonly path: string;
}

/** False where the two folders are not on one file system, or it knows no links. */
async function stageByLink({ handle, sha256, path }: From, target: string): Promise<boolean> {
  await checkContent(handle, sha256);
  return unlessUnable(link(path, target), target);
}

async function stageByCopy(from: From, target: string): Promise<'reflink' | 'copy'> {
  const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE;
  if (!(await unlessUnable(copyFile(from.path, target, flags), target))) {
    await copyInto(from, target);
    return 'copy';
  }
  const staged = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await orRemove(target, () => checkContent(staged, from.sha256));
  } finally {
    await staged.close();
  }
  return 'reflink';
}

async function copyInto({ handle, sha256 }: From, target: string): Promise<void> {
  const staged = await makeFile(target);
  if (staged === null) throw taken(target);
  try {
    await orRemove(target, async () => {
      const copied = await copyHashed(handle, staged, Number.MAX_SAFE_INTEGER);
      if (copied.sha256 !== sha256) throw corrupt(sha256, 'its content has another hash');
    });
  } finally {
    await staged.close();
  }
}

async function checkContent(handle: FileHandle, sha256: string): Promise<void> {
  const actual = (await hashFile(handle, 'sha256')).digest('hex');
  if (actual !== sha256) throw corrupt(sha256, 'its content has another hash');
}

/** Half a copy, or a wrong one, must not be taken for the attachment. */
async function orRemove(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

const UNABLE = new Set(['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY', 'EPERM', 'EMLINK', 'ENOENT']);

/** Whether it was done; false where this file system cannot do it, or the blob has just gone out of sight. */
async function unlessUnable(work: Promise<void>, target: string): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw taken(target);
    if (UNABLE.has(errnoOf(error))) return false;
    throw error;
  }
}

function taken(path: string): LonghaulError {
  return new LonghaulError('bad-input', `${path} is there already, and an attachment never replaces a file`);
}
