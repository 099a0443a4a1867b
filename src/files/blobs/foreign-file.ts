/**
 * Opens a file that others have made, without trusting them: a regular file, not through a symlink, not one that
 * could block us (FIFO), answer for ever (device) or be somebody else's under a second name (hard link).
 *
 * The look comes before the opening, since opening a device may already do something, and again after it, since
 * what stood there may have been exchanged in between.
 */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { type BlobRefused, refuseBlob } from './blob-refusal.ts';
import { errnoOf, isMissing } from './file-errors.ts';

export interface ForeignRules {
  /** The user who must own it. Default: anybody, since who could open it could read it. */
  readonly owner?: number;
  /** Refuse a file with further names. */
  readonly isSole?: boolean;
}

export interface Foreign {
  readonly ok: true;
  readonly path: string;
  readonly handle: FileHandle;
  readonly size: number;
  /** Whether the file is as long, and was written to as late, as when it was opened. */
  isUnchanged(): Promise<boolean>;
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const REFUSED_ERRNOS = new Set(['EACCES', 'EPERM', 'ELOOP', 'ENOTDIR', 'ENAMETOOLONG', 'EMLINK', 'ENXIO', 'EISDIR']);

export async function openForeign(path: string, rules: ForeignRules = {}): Promise<Foreign | BlobRefused> {
  try {
    const seen = await lstat(path, { bigint: true });
    const problem = oddity(seen, rules);
    if (problem !== null) return refuseBlob('odd-file', `${path} ${problem}`);
    return await openSeen(path, seen, rules);
  } catch (error) {
    if (isMissing(error)) return refuseBlob('not-found', `there is no file ${path}`);
    const errno = errnoOf(error);
    if (REFUSED_ERRNOS.has(errno)) return refuseBlob('odd-file', `${path} cannot be opened (${errno})`);
    throw error;
  }
}

async function openSeen(path: string, seen: BigIntStats, rules: ForeignRules): Promise<Foreign | BlobRefused> {
  const handle = await open(path, FLAGS);
  try {
    const opened = await handle.stat({ bigint: true });
    const isSame = opened.ino === seen.ino && opened.dev === seen.dev;
    const problem = isSame ? oddity(opened, rules) : 'was exchanged while it was opened';
    if (problem === null) return foreignOf(path, handle, opened);
    await handle.close();
    return refuseBlob('odd-file', `${path} ${problem}`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function foreignOf(path: string, handle: FileHandle, opened: BigIntStats): Foreign {
  const isUnchanged = async () => {
    const now = await handle.stat({ bigint: true });
    return now.size === opened.size && now.mtimeNs === opened.mtimeNs && now.ctimeNs === opened.ctimeNs;
  };
  return { ok: true, path, handle, size: Number(opened.size), isUnchanged };
}

/** In words what is wrong with it, or null. */
export function oddity(stats: BigIntStats, { owner, isSole = false }: ForeignRules): string | null {
  if (stats.isSymbolicLink()) return 'is a symbolic link';
  if (stats.isDirectory()) return 'is a folder';
  if (stats.isFIFO()) return 'is a FIFO';
  if (stats.isSocket()) return 'is a socket';
  if (!stats.isFile()) return 'is a device';
  if (owner !== undefined && stats.uid !== BigInt(owner)) return `belongs to user ${stats.uid}, not ${owner}`;
  if (isSole && stats.nlink > 1n) return `has ${stats.nlink - 1n} further names (hard links)`;
  return null;
}
