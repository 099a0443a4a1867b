/** Runs an attempt in an isolated process or thread. Its output is the log of the attempt, and a sign of life. */
import type { RunningJob } from '../../core/job/job.ts';
import type { AttemptContext, AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import { attachResult, hasLargeResult } from '../files/large-result.ts';
import type { HandlerHost } from '../run-handler.ts';
import { handlerPort, openHandlerLog } from '../run-handler.ts';
import { validate } from '../standard-schema.ts';
import type { Isolate } from './isolate.ts';
import type { IsolatePool } from './isolate-pool.ts';
import { splitLines } from './output-lines.ts';

export interface IsolatedHost extends HandlerHost<unknown> {
  readonly pool: IsolatePool;
  /** Returns how long an attempt of a queue may continue after its signal aborted. */
  graceMsOf(queue: string): number;
}

const NOT_BEGUN: AttemptOutcome = { kind: 'release', reason: 'it was stopped before it began' };

export async function runIsolated(
  host: IsolatedHost,
  job: RunningJob,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const log = openHandlerLog(host, job);
  const lines = splitLines((line) => host.onLog(job, line));
  const onOutput = (bytes: Uint8Array): void => {
    context.alive();
    log.write(bytes);
    lines.write(bytes);
  };
  try {
    const data =
      host.schema === null
        ? { text: job.data }
        : { value: await validate(`data of job ${job.id}`, host.schema, JSON.parse(job.data)) };
    // The start of a process is no run time of the job, and no silence.
    context.pauseLimits(true);
    const isolate = host.pool.takeWarm() ?? (await takeUnlessAborted(host.pool, context.signal));
    context.pauseLimits(false);
    if (isolate === null) return NOT_BEGUN;
    try {
      const port = handlerPort(host, job, { context, log });
      const graceMs = host.graceMsOf(job.queue);
      const outcome = await isolate.run({ job, data, port, onStop: context.onStop, graceMs, onOutput });
      return hasLargeResult(outcome) ? await attachResult(outcome, port) : outcome;
    } finally {
      host.pool.giveBack(isolate);
    }
  } finally {
    lines.end();
    await log.close();
  }
}

/** Returns null when the signal aborts first. The isolate is then left to another job. */
async function takeUnlessAborted(pool: IsolatePool, signal: AbortSignal): Promise<Isolate | null> {
  const taken = pool.take();
  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  const isolate = await Promise.race([taken, aborted]);
  if (isolate === null)
    taken.then(
      (late) => pool.giveBack(late),
      () => undefined,
    );
  return isolate;
}
