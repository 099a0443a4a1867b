/** Files that are ours to write: made new and for us alone, never through a link that somebody has put there. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errnoOf, ifThere } from './file-errors.ts';
import { FILE_MODE } from './layout.ts';

const OPEN = constants.O_RDWR | constants.O_NOFOLLOW;
const MAKE = OPEN | constants.O_CREAT | constants.O_EXCL;

/** Null when something stands there already. */
export async function makeFile(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, MAKE, FILE_MODE);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return null;
    throw error;
  }
}

/** Null when there is none. */
export async function openFile(path: string): Promise<FileHandle | null> {
  return ifThere(open(path, OPEN));
}
