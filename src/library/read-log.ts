/** Reads the log of an attempt for `longhaul.logs`: from the data directory, or else from the store. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isOpenAttempt } from '../core/job/job.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { LogPage } from '../core/ports/log-store.ts';
import { openFileLogs } from '../stores/sqlite/file-logs.ts';
import type { LogTarget } from './attempt-log.ts';

/** Options of `logs`. */
export interface LogsOptions {
  /** The number of the attempt. Default: the latest. */
  readonly attempt?: number;
  /** Waits for more until the attempt is over. */
  readonly follow?: boolean;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

const POLL_MS = 250;

interface Position {
  from: number;
  generation: number;
}

/** Yields the log in parts. After a cut of a followed log, it continues with the mark that says how much is missing. */
export async function* readLog(target: LogTarget, id: string, options: LogsOptions): AsyncGenerator<string> {
  const position = { from: 0, generation: 0 };
  let attempt = options.attempt;
  for (;;) {
    const job = (await target.store.jobs.find([id]))[0] ?? null;
    if (job === null) throw new LonghaulError('refused', `there is no job ${id}`);
    if (attempt !== undefined && attempt > job.attempt && options.follow !== true)
      throw new LonghaulError('refused', `job ${id} has no attempt ${attempt}: it has ${job.attempt}`);
    attempt ??= job.attempt > 0 ? job.attempt : undefined;
    const isOver = attempt !== undefined && job.attempt >= attempt && !isOpenAttempt(job, attempt);
    if (attempt !== undefined) yield* readOn(target, { id, attempt }, position);
    if (options.follow !== true || isOver || options.signal?.aborted === true) return;
    await sleep(POLL_MS, undefined, options.signal && { signal: options.signal }).catch(() => undefined);
  }
}

async function* readOn(
  { home, store }: LogTarget,
  log: { readonly id: string; readonly attempt: number },
  position: Position,
): AsyncGenerator<string> {
  const files = home === null ? null : openFileLogs(home, store.jobs);
  const read = async (from: number): Promise<LogPage | null> =>
    (await files?.read({ ...log, from })) ?? (await store.logs.read({ ...log, from }));
  for (;;) {
    const page = await read(position.from);
    if (page === null) return;
    if (page.generation !== position.generation) {
      Object.assign(position, { generation: page.generation, from: Math.min(position.from, page.head) });
      continue;
    }
    if (page.text === '') return;
    position.from = page.to;
    yield page.text;
  }
}
