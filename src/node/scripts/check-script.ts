/**
 * Whether a file may be run as a queue's script, and which file that really is.
 *
 * Taken anew at each start: a link that was pointed at a new version takes effect with the next attempt. Whoever can
 * write the file can run code as this node, so what others may write is refused.
 */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

export type CheckedScript = { readonly real: string } | { readonly problem: string };

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** Without the way through the pool of threads, which takes ten times as long as these few looks. */
export function checkScript(path: string, allowedFolders: readonly string[]): CheckedScript {
  if (!isAbsolute(path))
    return { problem: `${path} must be an absolute path, such as ${join(allowedFolders[0] ?? '/', basename(path))}` };
  try {
    const real = realpathSync.native(path);
    const problem = problemOfFile(real) ?? problemOfPlace(real, allowedFolders);
    return problem === null ? { real } : { problem };
  } catch (error) {
    return { problem: inWords(path, error) };
  }
}

function problemOfFile(real: string): string | null {
  const file = statSync(real);
  if (!file.isFile()) return `${real} is no file`;
  if ((file.mode & WRITABLE_BY_OTHERS) !== 0) return `${real} can be written by others: chmod go-w it`;
  accessSync(real, constants.X_OK);
  return null;
}

function problemOfPlace(real: string, allowedFolders: readonly string[]): string | null {
  const parent = dirname(real);
  const { mode } = statSync(parent);
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0)
    return `${parent} can be written by others: chmod go-w it`;
  // A path without links that begins like this is in there; only folders that are named by a link need be resolved.
  if (allowedFolders.some((folder) => real.startsWith(folder + sep))) return null;
  if (allowedFolders.some((folder) => real.startsWith(resolved(folder) + sep))) return null;
  return `${real} is outside of the folders for scripts: put its folder into scriptDirs of node.json`;
}

function resolved(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}

function inWords(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${path} does not exist`;
  if (code === 'EACCES') return `${path} is not executable: chmod +x it`;
  if (code === 'ELOOP') return `${path} is a link that leads to itself`;
  return `${path}: ${(error as Error).message}`;
}
