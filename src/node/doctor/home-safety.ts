/**
 * Whether a home folder is ours alone. Whoever can write into it, or rename a folder above it, can run code as us, so a
 * node does not start there; whoever can read it sees every job's data, which is told and not refused.
 *
 * Looks and changes nothing.
 */
import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Home } from '../home.ts';

export interface UnsafePlace {
  readonly path: string;
  readonly problem: string;
  readonly cure: string;
  /** Whether others could put something in its place. */
  readonly isOpenToChange: boolean;
}

const WRITABLE_BY_OTHERS = 0o022;
/** Going through is allowed: scripts that run as another user need it. */
const READABLE_BY_OTHERS = 0o044;
const STICKY = 0o1000;

export function unsafePlaces(home: Home, uid: number): readonly UnsafePlace[] {
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

function foreign(path: string, owner: number, uid: number): UnsafePlace {
  return {
    path,
    problem: `belongs to user ${owner}, and this is user ${uid}`,
    cure: `run as its owner, or give it over: chown -R ${uid} ${path}`,
    isOpenToChange: true,
  };
}

function open(path: string, mode: number, isOpenToChange: boolean): UnsafePlace {
  const octal = (mode & 0o7777).toString(8).padStart(4, '0');
  return {
    path,
    problem: `may be ${isOpenToChange ? 'written' : 'read'} by others (mode ${octal})`,
    cure: `chmod 0700 ${path}`,
    isOpenToChange,
  };
}

/** In a folder with the sticky bit, such as /tmp, others can rename nothing of ours. */
function unsafeParent(path: string): readonly UnsafePlace[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o002) === 0 || (stat.mode & STICKY) !== 0) return [];
  const problem = 'anybody may rename what is in it, also the home folder';
  return [{ path, problem, cure: `chmod o-w ${path}, or name a home elsewhere`, isOpenToChange: true }];
}

function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...foldersAbove(parent)];
}
