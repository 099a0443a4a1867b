/**
 * Follows a job: prints its log as it is written, attempt after attempt, until the job has ended.
 *
 * It only reads from an offset, so a node or a store that is away for a while is waited for, and nothing of the log is
 * missed or printed twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isEnded } from '../../../core/job/job.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { JobView } from '../../../library/index.ts';
import type { LogCleaner } from '../../output/clean-text.ts';
import { outputDrained } from '../../output/closed-output.ts';
import { remark } from '../../output/screen.ts';
import type { Target } from '../../target/open-target.ts';

const LOOK_EVERY_MS = 100;
const AWAY_EVERY_MS = 1_000;

export interface Following {
  readonly id: string;
  /** Of this attempt alone; else of all from the present one on. */
  readonly attempt?: number | undefined;
  readonly signal: AbortSignal;
  print(bytes: Uint8Array): Promise<void>;
}

/** Where the reader is. Moved on piece by piece, so that a read that fails later loses and repeats nothing. */
interface Cursor {
  attempt: number;
  from: number;
  /** Of the log, as it was last seen. */
  generation: number;
}

/** The job at its end; null when it was stopped before. A job that is deleted meanwhile is refused as not there. */
export async function followJob(target: Target, following: Following): Promise<JobView | null> {
  const { id, signal } = following;
  const cursor: Cursor = { attempt: following.attempt ?? 0, from: 0, generation: 0 };
  const patience = createPatience();
  while (!signal.aborted) {
    const job = await patience(() => look(target, following, cursor));
    if (job === null) throw new LonghaulError('refused', `there is no job ${id}`);
    if (job !== undefined && isOver(job, following)) return job;
    await pause(job === undefined ? AWAY_EVERY_MS : LOOK_EVERY_MS, signal);
  }
  return null;
}

function isOver(job: JobView, { attempt }: Following): boolean {
  return isEnded(job.state) || (attempt !== undefined && job.attempt > attempt);
}

/** The job as it was before its log was read: one that had ended then has all of its log behind it now. */
async function look(target: Target, following: Following, cursor: Cursor): Promise<JobView | null> {
  const job = await target.longhaul.find(following.id);
  if (job !== null) await printMore(target, job, { following, cursor });
  return job;
}

interface Reading {
  readonly following: Following;
  readonly cursor: Cursor;
}

/** The rest of the attempt it was at, then the attempts that came after it. */
async function printMore(target: Target, job: JobView, { following, cursor }: Reading): Promise<void> {
  if (cursor.attempt === 0) cursor.attempt = job.attempt;
  while (cursor.attempt > 0) {
    const isRunning = job.attempt === cursor.attempt && job.state === 'running';
    await printAttempt(target, { following, cursor, isRunning });
    if (following.attempt !== undefined || job.attempt <= cursor.attempt) return;
    remark(`— attempt ${cursor.attempt + 1} —`);
    Object.assign(cursor, { attempt: cursor.attempt + 1, from: 0, generation: 0 });
  }
}

async function printAttempt(target: Target, reading: Reading & { readonly isRunning: boolean }): Promise<void> {
  const { following, cursor, isRunning } = reading;
  while (!following.signal.aborted) {
    const { attempt, from } = cursor;
    const piece = await target.files.readLog({ id: following.id, attempt }, { from, isRunning });
    if (piece.generation !== cursor.generation) {
      // It was cut since: what came after its head is gone, and what is there now was not seen yet.
      Object.assign(cursor, { generation: piece.generation, from: Math.min(from, piece.head) });
      continue;
    }
    if (piece.bytes.length === 0) return;
    await following.print(piece.bytes);
    cursor.from = piece.to;
  }
}

/** Undefined while the store or the node is away, of which it speaks once. */
function createPatience(): <T>(work: () => Promise<T>) => Promise<T | undefined> {
  let isAway = false;
  return async (work) => {
    try {
      const answer = await work();
      if (isAway) remark('longhaul: it is back');
      isAway = false;
      return answer;
    } catch (error) {
      if (!(error instanceof LonghaulError) || !PASSING.has(error.code)) throw error;
      if (!isAway) remark(`longhaul: ${error.message}; waiting for it to come back`);
      isAway = true;
      return undefined;
    }
  };
}

const PASSING: ReadonlySet<string> = new Set(['store-unavailable', 'outcome-unknown']);

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Writes to stdout no faster than it is read there. */
export function logPrinter(cleaner: LogCleaner | null): (bytes: Uint8Array) => Promise<void> {
  return async (bytes) => {
    const shown = cleaner === null ? bytes : cleaner.clean(bytes);
    if (!process.stdout.write(shown)) await outputDrained();
  };
}
