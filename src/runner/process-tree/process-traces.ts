/**
 * What ties a process to an attempt besides its session and its parents: a mark in its environment, a working folder,
 * a file it writes. All of it is read from /proc; what may not be read counts as absent.
 */
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { readProc } from './process-stat.ts';

/** An environment can be as long as an argument list; beyond this nobody looks. */
const ENVIRONMENT_LIMIT = 2 * 1024 * 1024;
const chunk = 16 * 1024;

/** The value of a variable as the process was started with it; null when there is none. */
export function readEnvironment(pid: number, name: string): string | null {
  const bytes = readWhole(`/proc/${pid}/environ`);
  const start = `\0${name}=`;
  const at = bytes.indexOf(start);
  if (at < 0) return null;
  const end = bytes.indexOf(0, at + start.length);
  return bytes.toString('utf8', at + start.length, end < 0 ? bytes.length : end);
}

/** With a NUL before the first variable, as there is one before each of the others. */
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
    // Gone, or another user's.
  } finally {
    if (file !== null) closeSync(file);
  }
  return Buffer.concat(parts);
}

/**
 * Where the process works, the files it has open for writing, and its pipes. One who only reads a file, such as a
 * person's `tail`, has no business in a folder.
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
