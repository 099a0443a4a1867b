/**
 * Opens a file that was created by others, without trusting them. It must be a regular file: no symlink, no FIFO that
 * could block us, no device that never ends, and no hard link to a file of another user.
 *
 * The check comes before the open, because opening a device may have effects, and again after it, because the file may
 * have been replaced in between.
 */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { type BlobRefused, refuseBlob } from './blob-refusal.ts';
import { errnoOf, isMissing } from './file-errors.ts';

export interface ForeignRules {
  /** The required owner. Default: any, because a user who could open the file could also read it. */
  readonly owner?: number;
  /** Refuses a file with further hard links. */
  readonly isSole?: boolean;
}

export interface ForeignFile {
  readonly ok: true;
  readonly path: string;
  readonly handle: FileHandle;
  readonly size: number;
  /** Reports whether size and times are the same as when the file was opened. */
  isUnchanged(): Promise<boolean>;
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const REFUSED_ERRNOS = new Set(['EACCES', 'EPERM', 'ELOOP', 'ENOTDIR', 'ENAMETOOLONG', 'EMLINK', 'ENXIO', 'EISDIR']);

export async function openForeign(path: string, rules: ForeignRules = {}): Promise<ForeignFile | BlobRefused> {
  try {
    const checked = await lstat(path, { bigint: true });
    const problem = fileProblem(checked, rules);
    if (problem !== null) return refuseBlob('odd-file', `${path} ${problem}`);
    return await openSeen(path, checked, rules);
  } catch (error) {
    if (isMissing(error)) return refuseBlob('not-found', `file ${path} does not exist`);
    const errno = errnoOf(error);
    if (REFUSED_ERRNOS.has(errno)) return refuseBlob('odd-file', `${path} cannot be opened (${errno})`);
    throw error;
  }
}

async function openSeen(path: string, checked: BigIntStats, rules: ForeignRules): Promise<ForeignFile | BlobRefused> {
  const handle = await open(path, FLAGS);
  try {
    const opened = await handle.stat({ bigint: true });
    const isSame = opened.ino === checked.ino && opened.dev === checked.dev;
    const problem = isSame ? fileProblem(opened, rules) : 'was replaced while it was opened';
    if (problem === null) return foreignOf(path, handle, opened);
    await handle.close();
    return refuseBlob('odd-file', `${path} ${problem}`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function foreignOf(path: string, handle: FileHandle, opened: BigIntStats): ForeignFile {
  const isUnchanged = async () => {
    const now = await handle.stat({ bigint: true });
    return now.size === opened.size && now.mtimeNs === opened.mtimeNs && now.ctimeNs === opened.ctimeNs;
  };
  return { ok: true, path, handle, size: Number(opened.size), isUnchanged };
}

/** Returns what is wrong with the file, or null. */
export function fileProblem(stats: BigIntStats, { owner, isSole = false }: ForeignRules): string | null {
  if (stats.isSymbolicLink()) return 'is a symbolic link';
  if (stats.isDirectory()) return 'is a directory';
  if (stats.isFIFO()) return 'is a FIFO';
  if (stats.isSocket()) return 'is a socket';
  if (!stats.isFile()) return 'is a device';
  if (owner !== undefined && stats.uid !== BigInt(owner)) return `belongs to user ${stats.uid}, not ${owner}`;
  if (isSole && stats.nlink > 1n) return `has ${stats.nlink - 1n} further hard links`;
  return null;
}
