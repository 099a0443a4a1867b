/**
 * Checks whether a file may run as a queue's script, and resolves its symbolic links.
 *
 * Called at each start: a link that points to a new version takes effect with the next attempt. A user who can write
 * the file can run code as this node, so a file that other users may write is refused.
 */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

export type CheckedScript = { readonly real: string } | { readonly problem: string };

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** Synchronous: the thread pool would take ten times as long as these few calls. */
export function checkScript(path: string, allowedFolders: readonly string[]): CheckedScript {
  if (!isAbsolute(path))
    return { problem: `${path} must be an absolute path, such as ${join(allowedFolders[0] ?? '/', basename(path))}` };
  try {
    const real = realpathSync.native(path);
    const problem = fileProblem(real) ?? locationProblem(real, allowedFolders);
    return problem === null ? { real } : { problem };
  } catch (error) {
    return { problem: errorText(path, error) };
  }
}

function fileProblem(real: string): string | null {
  const file = statSync(real);
  if (!file.isFile()) return `${real} is not a file`;
  if ((file.mode & WRITABLE_BY_OTHERS) !== 0) return `${real} can be written by other users: run chmod go-w on it`;
  accessSync(real, constants.X_OK);
  return null;
}

function locationProblem(real: string, allowedFolders: readonly string[]): string | null {
  const parent = dirname(real);
  const { mode } = statSync(parent);
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0)
    return `${parent} can be written by other users: run chmod go-w on it`;
  // A resolved path with this prefix is inside the directory. Only directories that are named by a link need to be
  // resolved.
  if (allowedFolders.some((folder) => real.startsWith(folder + sep))) return null;
  if (allowedFolders.some((folder) => real.startsWith(resolved(folder) + sep))) return null;
  return `${real} is outside the directories for scripts: add its directory to scriptDirs in node.json`;
}

function resolved(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}

function errorText(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${path} does not exist`;
  if (code === 'EACCES') return `${path} is not executable: run chmod +x on it`;
  if (code === 'ELOOP') return `${path} is a symbolic link that points to itself`;
  return `${path}: ${(error as Error).message}`;
}
