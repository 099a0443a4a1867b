/**
 * Copies the files that the compiler ignores (Lua, SQL, shell) from one directory to the same relative paths in another.
 * Lua goes without its comments, as the bundles do: they are a fifth of it, and are in the sources.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

const kinds = new Set(['.lua', '.sql', '.sh']);

export function copyAssets(from, to) {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !kinds.has(extname(entry.name))) continue;
    const path = join(entry.parentPath, entry.name);
    const target = join(to, path.slice(from.length));
    if (extname(path) === '.lua') copyLua(path, target);
    else cpSync(path, target);
  }
}

/** Keeps the comments that name modules: stores/redis/calls/lua-files.ts reads them. */
function copyLua(path, target) {
  const lines = readFileSync(path, 'utf8').split('\n');
  const kept = lines.filter((line) => !/^\s*--/.test(line) || /^-- (uses|on demand):/.test(line));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, kept.join('\n'));
}
