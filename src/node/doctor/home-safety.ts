/**
 * Checks that only this user can use a data directory. A user who can write to it, or rename a directory above it, can
 * run code as this user, so a node refuses to start. A user who can read it sees every job's data, which is a warning.
 *
 * Reads only.
 */
import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Home } from '../home.ts';

export interface UnsafePath {
  readonly path: string;
  readonly problem: string;
  readonly cure: string;
  /** Whether other users could replace it. */
  readonly isWritableByOthers: boolean;
}

const WRITABLE_BY_OTHERS = 0o022;
/** Search permission is allowed: scripts that run as another user need it. */
const READABLE_BY_OTHERS = 0o044;
const STICKY = 0o1000;

export function unsafePaths(home: Home, uid: number): readonly UnsafePath[] {
  const found = foldersAbove(home.root).flatMap(unsafeParent);
  const root = statSync(home.root, { throwIfNoEntry: false });
  if (root === undefined) return found;
  if (root.uid !== uid) found.push(foreign(home.root, root.uid, uid));
  if ((root.mode & WRITABLE_BY_OTHERS) !== 0) found.push(open(home.root, root.mode, true));
  else if ((root.mode & READABLE_BY_OTHERS) !== 0) found.push(open(home.root, root.mode, false));
  const database = lstatSync(home.database, { throwIfNoEntry: false });
  if (database !== undefined && database.uid !== uid) found.push(foreign(home.database, database.uid, uid));
  return found;
}

function foreign(path: string, owner: number, uid: number): UnsafePath {
  return {
    path,
    problem: `belongs to user ${owner}, and this is user ${uid}`,
    cure: `run as its owner, or change the owner: chown -R ${uid} ${path}`,
    isWritableByOthers: true,
  };
}

function open(path: string, mode: number, isWritableByOthers: boolean): UnsafePath {
  const octal = (mode & 0o7777).toString(8).padStart(4, '0');
  return {
    path,
    problem: `may be ${isWritableByOthers ? 'written' : 'read'} by other users (mode ${octal})`,
    cure: `chmod 0700 ${path}`,
    isWritableByOthers,
  };
}

/** In a directory with the sticky bit, such as /tmp, other users cannot rename our files. */
function unsafeParent(path: string): readonly UnsafePath[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o002) === 0 || (stat.mode & STICKY) !== 0) return [];
  const problem = 'any user may rename its entries, including the data directory';
  return [
    { path, problem, cure: `chmod o-w ${path}, or choose another directory with --home`, isWritableByOthers: true },
  ];
}

function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...foldersAbove(parent)];
}
