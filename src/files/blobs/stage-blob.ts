/**
 * Puts a blob into an attempt directory. The script may write to its copy; the blob stays the same.
 *
 * It uses a reflink where the file system supports copy-on-write, otherwise a copy. `link` is a hard link, for files
 * too large to copy: then the script must not change the content, and `verify` afterwards detects a change. In every
 * mode, the content is verified against its hash before the script sees it.
 */
import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import { checkAttachmentName } from '../outputs/attachment-name.ts';
import { type BlobRefused, refuseBlob } from './blob-refusal.ts';
import type { BlobStore } from './blob-store.ts';
import { copyHashed } from './copy-hashed.ts';
import { corrupt, errnoOf, withDiskErrors } from './file-errors.ts';
import { checkSha256 } from './layout.ts';
import { openBlob } from './open-blob.ts';
import { createFile } from './own-file.ts';
import { hashFile } from './scan-file.ts';

export interface Staging {
  readonly sha256: string;
  /** Must exist, and contain no file of that name. */
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
  if (handle === null) return refuseBlob('not-found', `attachment ${sha256} does not exist`);
  const from = { handle, sha256, path: blobStore.layout.blob(sha256) };
  try {
    return await withDiskErrors('while staging an attachment', async () => {
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

/** Returns false where the directories are on different file systems, or hard links are not supported. */
async function stageByLink({ handle, sha256, path }: From, target: string): Promise<boolean> {
  await checkContent(handle, sha256);
  return ifSupported(link(path, target), target);
}

async function stageByCopy(from: From, target: string): Promise<'reflink' | 'copy'> {
  const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE;
  if (!(await ifSupported(copyFile(from.path, target, flags), target))) {
    await copyInto(from, target);
    return 'copy';
  }
  const staged = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await removeOnError(target, () => checkContent(staged, from.sha256));
  } finally {
    await staged.close();
  }
  return 'reflink';
}

async function copyInto({ handle, sha256 }: From, target: string): Promise<void> {
  const staged = await createFile(target);
  if (staged === null) throw existsError(target);
  try {
    await removeOnError(target, async () => {
      const copied = await copyHashed(handle, staged, Number.MAX_SAFE_INTEGER);
      if (copied.sha256 !== sha256) throw corrupt(sha256, 'its content has a different hash');
    });
  } finally {
    await staged.close();
  }
}

async function checkContent(handle: FileHandle, sha256: string): Promise<void> {
  const actual = (await hashFile(handle, 'sha256')).digest('hex');
  if (actual !== sha256) throw corrupt(sha256, 'its content has a different hash');
}

/** An incomplete or wrong copy must not be existsError for the attachment. */
async function removeOnError(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

const UNSUPPORTED = new Set([
  'ENOTSUP',
  'EOPNOTSUPP',
  'EXDEV',
  'EINVAL',
  'ENOSYS',
  'ENOTTY',
  'EPERM',
  'EMLINK',
  'ENOENT',
]);

/** Returns whether it worked; false where the file system does not support it, or a sweep has just hidden the blob. */
async function ifSupported(work: Promise<void>, target: string): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw existsError(target);
    if (UNSUPPORTED.has(errnoOf(error))) return false;
    throw error;
  }
}

function existsError(path: string): LonghaulError {
  return new LonghaulError('bad-input', `${path} exists already, and an attachment never replaces a file`);
}
