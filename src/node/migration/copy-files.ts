/**
 * Attachments and logs of a home, copied into another one. Each copy is compared with the original by its hash, a blob with
 * its name; what is there already and the same is left as it is, so it can be repeated. Nothing is removed.
 *
 * It is done twice in a move: while jobs may still run, so that the stores stand closed for less, and when none does, for
 * what came or grew in between. A log that somebody writes while it is copied is left to the next round.
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

export interface FilesToMove {
  readonly from: Home;
  readonly to: Home;
  /** What was found to be the same at both ends, and when it had last been written then: kept from round to round. */
  readonly known: Map<string, string>;
  readonly signal: AbortSignal;
  onFile(done: number, of: number): void;
}

interface OneFile {
  readonly from: string;
  readonly to: string;
  /** Of a blob, whose name it is; null for what may still be written. */
  readonly sha256: string | null;
}

const BLOB = /^[0-9a-f]{2}\/[0-9a-f]{64}$/;

export async function moveFiles({ from, to, known, signal, onFile }: FilesToMove): Promise<FilesResult> {
  const all = await filesIn(from, to);
  let [files, bytes] = [0, 0];
  for (const [place, file] of all.entries()) {
    signal.throwIfAborted();
    const size = await moveFile(file, known);
    if (size !== null) [files, bytes] = [files + 1, bytes + size];
    onFile(place + 1, all.length);
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

/** Its size; null when it went away meanwhile: a node removes what nobody needs. */
async function moveFile(file: OneFile, known: Map<string, string>): Promise<number | null> {
  const before = await stampOf(file.from);
  if (before === null) return null;
  if (known.get(file.from) === before.words) return before.size;
  const isSame = await copied(file, before.size);
  const after = await stampOf(file.from);
  if (after === null) return null;
  const isStill = after.words === before.words;
  if (isSame && isStill) known.set(file.from, after.words);
  else if (isStill || file.sha256 !== null) throw corrupt(file);
  return after.size;
}

/** Whether the copy, made now or before, has the hash that it should have. */
async function copied(file: OneFile, size: number): Promise<boolean> {
  const sha256 = file.sha256 ?? (await hashOf(file.from));
  if (size === (await stampOf(file.to))?.size && (await hashOf(file.to)) === sha256) return true;
  const draft = `${file.to}.moving`;
  await copyOne(file.from, draft, 'copy');
  const isSame = sha256 !== null && (await hashOf(draft)) === sha256;
  await (isSame ? rename(draft, file.to) : rm(draft, { force: true }));
  return isSame;
}

async function stampOf(path: string): Promise<{ readonly size: number; readonly words: string } | null> {
  const found = await lstat(path).catch(() => null);
  return found === null ? null : { size: found.size, words: `${found.size} ${found.mtimeMs}` };
}

const hashOf = (path: string): Promise<string | null> => sha256Of(path).catch(() => null);

function corrupt({ from, sha256 }: OneFile): LonghaulError {
  const hash = sha256 === null ? 'that was read from it at first' : sha256;
  return new LonghaulError(
    'data-corrupt',
    `${from} does not have the hash ${hash}: longhaul doctor --scrub lists such files`,
  );
}
