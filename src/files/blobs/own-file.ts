/** Creates and opens private files: exclusively, and never through a symlink. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errnoOf, ifExists } from './file-errors.ts';
import { FILE_MODE } from './layout.ts';

const OPEN = constants.O_RDWR | constants.O_NOFOLLOW;
const CREATE = OPEN | constants.O_CREAT | constants.O_EXCL;

/** Returns null when the path exists already. */
export async function createFile(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, CREATE, FILE_MODE);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return null;
    throw error;
  }
}

/** Returns null when the file does not exist. */
export async function openFile(path: string): Promise<FileHandle | null> {
  return ifExists(open(path, OPEN));
}
