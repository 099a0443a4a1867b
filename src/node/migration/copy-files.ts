/**
 * Copies attachments and logs of one data directory to another. Each copy is compared with the original by its hash, a
 * blob with its name. An equal file is kept, so the copy can be repeated. Nothing is removed.
 *
 * A migration does this twice: while jobs may still run, so that the stores are closed for a shorter time, and when
 * none runs, for files that were added or grew. A log that changes during its copy is left to the next round.
 */
import { lstat, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import { copyOne, plainFiles, sha256Of } from '../backup/copy-file.ts';
import type { Home } from '../home.ts';

export interface FilesResult {
  readonly files: number;
  readonly bytes: number;
}

export interface FilesToCopy {
  readonly from: Home;
  readonly to: Home;
  /** Files that were equal at both ends, with size and modification time: kept between rounds. */
  readonly known: Map<string, string>;
  readonly signal: AbortSignal;
  onFile(done: number, of: number): void;
}

interface OneFile {
  readonly from: string;
  readonly to: string;
  /** The hash of a blob, which is its name; null for a file that may still change. */
  readonly sha256: string | null;
}

const BLOB = /^[0-9a-f]{2}\/[0-9a-f]{64}$/;

export async function copyFiles({ from, to, known, signal, onFile }: FilesToCopy): Promise<FilesResult> {
  const all = await filesIn(from, to);
  let [files, bytes] = [0, 0];
  for (const [index, file] of all.entries()) {
    signal.throwIfAborted();
    const size = await moveFile(file, known);
    if (size !== null) [files, bytes] = [files + 1, bytes + size];
    onFile(index + 1, all.length);
  }
  return { files, bytes };
}

async function filesIn(from: Home, to: Home): Promise<readonly OneFile[]> {
  const blobs = await plainFiles(from.blobs, (path) => BLOB.test(path));
  const logs = await plainFiles(from.jobs);
  return [
    ...blobs.map((path) => ({ from: join(from.blobs, path), to: join(to.blobs, path), sha256: basename(path) })),
    ...logs.map((path) => ({ from: join(from.jobs, path), to: join(to.jobs, path), sha256: null })),
  ];
}

/** Returns the size; null when the file was removed meanwhile: a node removes unreferenced files. */
async function moveFile(file: OneFile, known: Map<string, string>): Promise<number | null> {
  const before = await stampOf(file.from);
  if (before === null) return null;
  if (known.get(file.from) === before.stamp) return before.size;
  const isSame = await copied(file, before.size);
  const after = await stampOf(file.from);
  if (after === null) return null;
  const isUnchanged = after.stamp === before.stamp;
  if (isSame && isUnchanged) known.set(file.from, after.stamp);
  else if (isUnchanged || file.sha256 !== null) throw corrupt(file);
  return after.size;
}

/** Returns whether the copy, new or existing, has the expected hash. */
async function copied(file: OneFile, size: number): Promise<boolean> {
  const sha256 = file.sha256 ?? (await hashOf(file.from));
  if (size === (await stampOf(file.to))?.size && (await hashOf(file.to)) === sha256) return true;
  const draft = `${file.to}.moving`;
  await copyOne(file.from, draft, 'copy');
  const isSame = sha256 !== null && (await hashOf(draft)) === sha256;
  await (isSame ? rename(draft, file.to) : rm(draft, { force: true }));
  return isSame;
}

async function stampOf(path: string): Promise<{ readonly size: number; readonly stamp: string } | null> {
  const found = await lstat(path).catch(() => null);
  return found === null ? null : { size: found.size, stamp: `${found.size} ${found.mtimeMs}` };
}

const hashOf = (path: string): Promise<string | null> => sha256Of(path).catch(() => null);

function corrupt({ from, sha256 }: OneFile): LonghaulError {
  const hash = sha256 === null ? 'of its first read' : sha256;
  return new LonghaulError(
    'data-corrupt',
    `${from} does not have the hash ${hash}: longhaul doctor --scrub lists such files`,
  );
}
