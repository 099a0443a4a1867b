/**
 * The standard input of `longhaul run`: what a pipe or a file gives becomes an attachment of the job, so that the node
 * can run the command again after this process has ended.
 */
import { createHash } from 'node:crypto';
import { createWriteStream, fstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { STDIN_FILE } from '../../../node/scripts/command-job.ts';
import { printNotice } from '../../output/screen.ts';

export interface PipedInput {
  readonly path: string;
  readonly sha256: string;
  remove(): void;
}

/** An open pipe that gives nothing for so long may never end. */
const NOTICE_AFTER_MS = 2_000;

/** Reads a pipe or a file to its end. Returns null for any other standard input, and for one without a byte. */
export async function readPipedInput(): Promise<PipedInput | null> {
  if (!isPiped()) return null;
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-run-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const path = join(folder, STDIN_FILE);
  const notice = setTimeout(
    () => printNotice('longhaul: reading standard input to its end; --no-stdin runs the command without it'),
    NOTICE_AFTER_MS,
  );
  try {
    const { size, sha256 } = await copyInput(path);
    if (size > 0) return { path, sha256, remove };
  } catch (error) {
    remove();
    throw error;
  } finally {
    clearTimeout(notice);
  }
  remove();
  return null;
}

/** Programs that start others often leave a socket open that gives nothing and never ends, so a socket is not read. */
function isPiped(): boolean {
  try {
    const input = fstatSync(0);
    return input.isFIFO() || input.isFile();
  } catch {
    // Standard input is closed.
    return false;
  }
}

async function copyInput(path: string): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(process.stdin, count, createWriteStream(path, { mode: 0o600 }));
  return { size, sha256: hash.digest('hex') };
}
