/** Fingerprints of the inputs of a build, from names, sizes and modification times; deleted files change them too. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './script-support.mjs';

/** Returns the fingerprint of files and directories, given by their paths from the root of the repository. */
export function fingerprintOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap((each) => [each, ...filesUnder(join(root, each)).map((name) => join(each, name))])) {
    const facts = statSync(join(root, path), { throwIfNoEntry: false });
    if (facts?.isDirectory()) continue;
    hash.update(`${path} ${facts?.size} ${facts?.mtimeMs}\n`);
  }
  return hash.digest('hex');
}

export function filesUnder(folder) {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
