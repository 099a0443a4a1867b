/**
 * The LogStore port over a data directory: one file for each attempt, `jobs/<id>/attempts/<n>/log`, as nodes and the
 * library write it. Files have no limit here: a node applies the retention of logs and deletes them with their jobs.
 *
 * Never reads the log of a script, which may contain secrets: its node masks them.
 */
import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { appendFile, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wholeCharacters } from '../../core/job/stored-log.ts';
import { holds } from '../../core/lifecycle/lifecycle.ts';
import type { CallOptions, JobStore } from '../../core/ports/job-store.ts';
import type {
  LogAppend,
  LogAppendResult,
  LogPage,
  LogQuery,
  LogStore,
  LostOutput,
  RestoredLog,
  StoredGap,
} from '../../core/ports/log-store.ts';
import { MAX_LOG_PAGE } from '../../core/ports/log-store.ts';
import { refuse } from '../../core/ports/refusal.ts';

export function openFileLogs(home: string, jobs: Pick<JobStore, 'find'>): LogStore {
  const last = new Map<string, Promise<unknown>>();
  /** Appends to one file come one after the other: a repeated call may overtake the first one. */
  const inTurn = <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, turn);
    const leave = (): void => void (last.get(key) === turn && last.delete(key));
    turn.then(leave, leave);
    return turn;
  };
  return {
    append: (append, options) => inTurn(append.id, () => appendTo(home, jobs, append, options)),
    read: (query) => readFrom(home, query),
    restore: (log) => inTurn(log.id, () => restore(home, log)),
  };
}

/** The folder of an attempt in a data directory. */
export function logFolder(home: string, id: string, attempt: number): string {
  return join(home, 'jobs', id, 'attempts', String(attempt));
}

async function appendTo(
  home: string,
  jobs: Pick<JobStore, 'find'>,
  { id, token, offset, text, gap }: LogAppend,
  options: CallOptions | undefined,
): Promise<LogAppendResult> {
  // The claim is durable before the attempt has a file: after a power cut, no later attempt finds the file of this one.
  const [job] = await jobs.find([id], { ...options, sync: 'first' });
  if (job === null || job === undefined) return refuse('not-found', `job ${id}`);
  if (!holds(job, token)) return refuse('lease-lost', `job ${id}`);
  const folder = logFolder(home, id, job.attempt);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(join(folder, 'log'), 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const bytes = Buffer.from(text);
    if (offset + bytes.length <= size) return { ok: true, end: size };
    const hole = missing(Math.max(0, offset - size));
    await writeAll(file, Buffer.concat([hole, bytes.subarray(Math.max(0, size - offset))]));
    if (gap !== undefined) await appendFile(join(folder, 'log.index'), gapLine(gap, size), { mode: 0o600 });
    return { ok: true, end: offset + bytes.length };
  } finally {
    await file.close();
  }
}

async function restore(home: string, { id, attempt, text }: RestoredLog): Promise<void> {
  const folder = logFolder(home, id, attempt);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (existsSync(join(folder, 'log'))) return;
  // Complete or not at all: the migration may be killed.
  await writeFile(join(folder, 'log.new'), text, { mode: 0o600 });
  await rename(join(folder, 'log.new'), join(folder, 'log'));
}

const gapLine = ({ from, to }: LostOutput, offset: number): string => `gap ${from} ${to} ${offset}\n`;

/** Fills a hole with exactly its length, so that offsets in the file stay offsets in the output. */
function missing(length: number): Buffer {
  if (length === 0) return Buffer.alloc(0);
  const mark = `[longhaul: ${length} bytes of output are missing here]`;
  return Buffer.from(length <= mark.length ? '\n'.padStart(length, '.') : `${mark.padEnd(length - 1)}\n`);
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

async function readFrom(home: string, { id, attempt, from }: LogQuery): Promise<LogPage | null> {
  const folder = logFolder(home, id, attempt);
  if (existsSync(join(folder, 'attempt.jsonl'))) return null;
  const file = await open(join(folder, 'log')).catch(orNull);
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    const start = Math.min(from, size);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(MAX_LOG_PAGE, size - start)), {
      position: start,
    });
    const bytes = wholeCharacters(buffer.subarray(0, bytesRead));
    const gaps = gapsIn((await readFile(join(folder, 'log.index'), 'utf8').catch(orNull)) ?? '');
    const text = Buffer.from(bytes).toString();
    return { text, from: start, to: start + bytes.length, size, generation: 0, head: 0, dropped: 0, gaps };
  } finally {
    await file.close();
  }
}

function orNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function gapsIn(index: string): readonly StoredGap[] {
  return [...index.matchAll(/^gap (\d+) (\d+) (\d+)$/gm)].map(([, from, to, offset]) => ({
    from: Number(from),
    to: Number(to),
    offset: Number(offset),
  }));
}
