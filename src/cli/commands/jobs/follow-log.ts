/**
 * Follows a job: prints its log as it is written, attempt after attempt, until the job has ended.
 *
 * It reads from an offset, so it can wait for a node or store that is unavailable, and prints no byte twice and misses none.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isEnded } from '../../../core/job/job.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { JobView } from '../../../library/index.ts';
import type { LogCleaner } from '../../output/clean-text.ts';
import { outputDrained } from '../../output/closed-output.ts';
import { printNotice } from '../../output/screen.ts';
import type { Target } from '../../target/open-target.ts';

const POLL_MS = 100;
const UNAVAILABLE_POLL_MS = 1_000;

export interface FollowOptions {
  readonly id: string;
  /** Only this attempt; by default the current attempt and all later ones. */
  readonly attempt?: number | undefined;
  readonly signal: AbortSignal;
  print(bytes: Uint8Array): Promise<void>;
}

/** The position of the reader. Advanced after each chunk, so that a later failed read loses and repeats nothing. */
interface Cursor {
  attempt: number;
  from: number;
  /** The generation of the log at the last read. */
  generation: number;
}

/** Returns the ended job, or null if the signal stopped it before. Throws if the job is deleted meanwhile. */
export async function followJob(target: Target, options: FollowOptions): Promise<JobView | null> {
  const { id, signal } = options;
  const cursor: Cursor = { attempt: options.attempt ?? 0, from: 0, generation: 0 };
  const unlessUnavailable = tolerateOutages();
  while (!signal.aborted) {
    const job = await unlessUnavailable(() => poll(target, options, cursor));
    if (job === null) throw new LonghaulError('refused', `there is no job ${id}`);
    if (job !== undefined && isOver(job, options)) return job;
    await pause(job === undefined ? UNAVAILABLE_POLL_MS : POLL_MS, signal);
  }
  return null;
}

function isOver(job: JobView, { attempt }: FollowOptions): boolean {
  return isEnded(job.state) || (attempt !== undefined && job.attempt > attempt);
}

/** Returns the job as it was before its log was read: if it had ended then, its whole log is printed now. */
async function poll(target: Target, options: FollowOptions, cursor: Cursor): Promise<JobView | null> {
  const job = await target.longhaul.find(options.id);
  if (job !== null) await printMore(target, job, { options, cursor });
  return job;
}

interface LogReader {
  readonly options: FollowOptions;
  readonly cursor: Cursor;
}

/** Prints the rest of the attempt at the cursor, then the later attempts. */
async function printMore(target: Target, job: JobView, { options, cursor }: LogReader): Promise<void> {
  if (cursor.attempt === 0) cursor.attempt = job.attempt;
  while (cursor.attempt > 0) {
    const isRunning = job.attempt === cursor.attempt && job.state === 'running';
    await printAttempt(target, { options, cursor, isRunning });
    if (options.attempt !== undefined || job.attempt <= cursor.attempt) return;
    printNotice(`— attempt ${cursor.attempt + 1} —`);
    Object.assign(cursor, { attempt: cursor.attempt + 1, from: 0, generation: 0 });
  }
}

async function printAttempt(target: Target, reader: LogReader & { readonly isRunning: boolean }): Promise<void> {
  const { options, cursor, isRunning } = reader;
  while (!options.signal.aborted) {
    const { attempt, from } = cursor;
    const chunk = await target.files.readLog({ id: options.id, attempt }, { from, isRunning });
    if (chunk.generation !== cursor.generation) {
      // The log was truncated meanwhile: the bytes after its head are new, so reading restarts there.
      Object.assign(cursor, { generation: chunk.generation, from: Math.min(from, chunk.head) });
      continue;
    }
    if (chunk.bytes.length === 0) return;
    await options.print(chunk.bytes);
    cursor.from = chunk.to;
  }
}

/** Wraps a call: returns undefined while the store or node is unavailable, and reports an outage once. */
function tolerateOutages(): <T>(work: () => Promise<T>) => Promise<T | undefined> {
  let isUnavailable = false;
  return async (work) => {
    try {
      const result = await work();
      if (isUnavailable) printNotice('longhaul: the connection is back');
      isUnavailable = false;
      return result;
    } catch (error) {
      if (!(error instanceof LonghaulError) || !TRANSIENT.has(error.code)) throw error;
      if (!isUnavailable) printNotice(`longhaul: ${error.message}; retrying`);
      isUnavailable = true;
      return undefined;
    }
  };
}

const TRANSIENT: ReadonlySet<string> = new Set(['store-unavailable', 'outcome-unknown']);

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Returns a function that writes to stdout and waits while its buffer is full. */
export function logPrinter(cleaner: LogCleaner | null): (bytes: Uint8Array) => Promise<void> {
  return async (bytes) => {
    const shown = cleaner === null ? bytes : cleaner.clean(bytes);
    if (!process.stdout.write(shown)) await outputDrained();
  };
}
