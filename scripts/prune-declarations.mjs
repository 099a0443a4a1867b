/**
 * Removes the type declarations that no export of the package refers to, so that the package contains its interface
 * and not that of its inner parts.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { filesUnder } from './fingerprint.mjs';
import { root } from './script-support.mjs';

export function pruneDeclarations(target) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const kept = new Set();
  for (const { types } of Object.values(exports)) if (types) keep(types.replace('./dist', target), kept);
  for (const name of filesUnder(target)) {
    const path = join(target, name);
    if (name.endsWith('.d.ts') && !kept.has(path)) rmSync(path);
  }
}

const reference = /(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.[jt]s['"]/g;

/** Keeps a declaration and all declarations that it imports. */
function keep(path, kept) {
  if (kept.has(path) || !existsSync(path)) return;
  kept.add(path);
  for (const [, name] of readFileSync(path, 'utf8').matchAll(reference)) {
    keep(resolve(dirname(path), `${name}.d.ts`), kept);
  }
}
