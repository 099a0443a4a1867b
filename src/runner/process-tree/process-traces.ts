/**
 * Traces that tie a process to an attempt besides session and parents: the mark in its environment, its working
 * directory, and the files it writes. All are read from /proc; unreadable ones count as absent.
 */
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { readProc } from './process-stat.ts';

/** An environment may be as long as an argument list; the rest is ignored. */
const ENVIRONMENT_LIMIT = 2 * 1024 * 1024;
const chunk = 16 * 1024;

/** Returns the initial value of an environment variable of a process; null when unset. */
export function readEnvironment(pid: number, name: string): string | null {
  const bytes = readWhole(`/proc/${pid}/environ`);
  const start = `\0${name}=`;
  const at = bytes.indexOf(start);
  if (at < 0) return null;
  const end = bytes.indexOf(0, at + start.length);
  return bytes.toString('utf8', at + start.length, end < 0 ? bytes.length : end);
}

/** Prepends a NUL, so that every variable follows one. */
function readWhole(path: string): Buffer {
  const parts: Buffer[] = [Buffer.of(0)];
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    for (let length = 0; length < ENVIRONMENT_LIMIT; ) {
      const part = Buffer.allocUnsafe(chunk);
      const read = readSync(file, part, 0, chunk, null);
      if (read === 0) break;
      parts.push(part.subarray(0, read));
      length += read;
    }
  } catch {
    // The process is gone, or belongs to another user.
  } finally {
    if (file !== null) closeSync(file);
  }
  return Buffer.concat(parts);
}

/**
 * Returns the working directory, the files open for writing, and the pipes. A process that only reads a file, such as
 * the `tail` of an operator, has no trace.
 */
export function placesOf(pid: number): string[] {
  const written = openFiles(pid)
    .map((file) => ({ file, path: readLink(`/proc/${pid}/fd/${file}`) }))
    .filter(({ file, path }) => isPipe(path) || (isFile(path) && isWriting(pid, file)))
    .map(({ path }) => path);
  return [readLink(`/proc/${pid}/cwd`), ...written];
}

const isPipe = (path: string): boolean => path.startsWith('pipe:');
const isFile = (path: string): boolean => path.startsWith('/') && !path.startsWith('/dev/');

function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}

function isWriting(pid: number, file: string): boolean {
  const flags = /^flags:\s*([0-7]+)/m.exec(readProc(`/proc/${pid}/fdinfo/${file}`) ?? '')?.[1] ?? '0';
  return (Number.parseInt(flags, 8) & 0o3) !== 0;
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

export const isInside = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
