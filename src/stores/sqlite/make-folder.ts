/**
 * Creates a folder and its parents one by one. Node's `recursive` never returns where the system reports that a parent
 * does not exist although it does, as under /proc.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';

/** Creates the folder, for its owner only. Throws the error of the system for a folder that may not be created. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another process created it in the meantime.
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT') throw error;
    const message = `the folder ${folder} cannot be created: the file system of ${parent} accepts no new folders; choose another one`;
    throw new LonghaulError('store-incompatible', message, { cause: error });
  }
}
