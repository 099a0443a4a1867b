/**
 * Copies the files that the compiler ignores (Lua, SQL, shell) from one directory to the same relative paths in another.
 */
import { cpSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';

const kinds = new Set(['.lua', '.sql', '.sh']);

export function copyAssets(from, to) {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !kinds.has(extname(entry.name))) continue;
    const path = join(entry.parentPath, entry.name);
    cpSync(path, join(to, path.slice(from.length)));
  }
}
