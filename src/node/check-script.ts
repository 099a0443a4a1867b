/**
 * Whether a file may be run as a queue's script, and which file that really is.
 *
 * Taken anew at each start: a link that was pointed at a new version takes effect with the next attempt. Whoever can
 * write the file can run code as this node, so what others may write is refused.
 */
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

export type CheckedScript = { readonly real: string } | { readonly problem: string };

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

export async function checkScript(path: string, allowedFolders: readonly string[]): Promise<CheckedScript> {
  if (!isAbsolute(path))
    return { problem: `${path} must be an absolute path, such as ${join(allowedFolders[0] ?? '/', basename(path))}` };
  try {
    const real = await realpath(path);
    const [ofFile, ofPlace] = await Promise.all([problemOfFile(real), problemOfPlace(real, allowedFolders)]);
    const problem = ofFile ?? ofPlace;
    return problem === null ? { real } : { problem };
  } catch (error) {
    return { problem: inWords(path, error) };
  }
}

async function problemOfFile(real: string): Promise<string | null> {
  const file = await stat(real);
  if (!file.isFile()) return `${real} is no file`;
  if ((file.mode & WRITABLE_BY_OTHERS) !== 0) return `${real} can be written by others: chmod go-w it`;
  await access(real, constants.X_OK);
  return null;
}

async function problemOfPlace(real: string, allowedFolders: readonly string[]): Promise<string | null> {
  const parent = dirname(real);
  const { mode } = await stat(parent);
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0)
    return `${parent} can be written by others: chmod go-w it`;
  // A path without links that begins like this is in there; only folders that are named by a link need be resolved.
  if (allowedFolders.some((folder) => real.startsWith(folder + sep))) return null;
  const folders = await Promise.all(allowedFolders.map((folder) => realpath(folder).catch(() => folder)));
  if (folders.some((folder) => real.startsWith(folder + sep))) return null;
  return `${real} is outside of the folders for scripts: put its folder into scriptDirs of node.json`;
}

function inWords(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${path} does not exist`;
  if (code === 'EACCES') return `${path} is not executable: chmod +x it`;
  if (code === 'ELOOP') return `${path} is a link that leads to itself`;
  return `${path}: ${(error as Error).message}`;
}
