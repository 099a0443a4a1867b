/**
 * The files of the built web UI: read once, served from memory.
 *
 * Its URLs are relative. A page at `/q/mail/7` is two levels deeper than the files, so the prefix is inserted for each
 * depth. Thus the web UI works behind any sub-path without configuration.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface WebFile {
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  readonly type: string;
}

export interface WebFiles {
  /** Returns the HTML for a path with this many slashes below the base. */
  html(depth: number): string;
  /** Returns a file by its path below the base, such as `assets/index-4f2a.js`. */
  file(name: string): WebFile | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Reads the files; null if the web UI is not built. */
export function openWebFiles(directory: string): WebFiles | null {
  const names = filesIn(directory);
  if (!names.includes('index.html')) return null;
  const html = readFileSync(join(directory, 'index.html'), 'utf8');
  const files = new Map(names.map((name) => [name, readOne(directory, name)]));
  return {
    html: (depth) => html.replaceAll(/(src|href)="\.\//g, `$1="${'../'.repeat(depth)}`),
    file: (name) => (name === 'index.html' ? undefined : files.get(name)),
  };
}

function readOne(directory: string, name: string): WebFile {
  const bytes = readFileSync(join(directory, name));
  let gzipped: Buffer | null = null;
  return {
    bytes,
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    // Compressed on first use, and not at the start of the node.
    get gzipped() {
      gzipped ??= gzipSync(bytes);
      return gzipped;
    },
  };
}

function filesIn(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return entries.map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
