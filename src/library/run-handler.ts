/** Runs a handler in this process: parses and checks the data, calls the handler, and returns its outcome. */
import type { RunningJob } from '../core/job/job.ts';
import type { Store } from '../core/ports/store.ts';
import { parentsOf } from '../files/attachments/parents.ts';
import type { AttemptContext, AttemptOutcome } from '../worker/attempt/run-outcome.ts';
import type { Handler, HandlerPort } from './active-job.ts';
import { activeJob } from './active-job.ts';
import type { AttemptLog } from './attempt-log.ts';
import { openAttemptLog } from './attempt-log.ts';
import { callHandler } from './call-handler.ts';
import type { StandardSchema } from './standard-schema.ts';
import { validate } from './standard-schema.ts';

/** What handlers of a worker share, whether they are isolated or not. */
export interface HandlerHost<Data> {
  readonly schema: StandardSchema<unknown, Data> | null;
  readonly home: string | null;
  readonly store: Store;
  onLog(job: RunningJob, line: string): void;
}

export interface HandlerRun<Data, Result> extends HandlerHost<Data> {
  readonly handler: Handler<Data, Result>;
}

export async function runHandler<Data, Result>(
  run: HandlerRun<Data, Result>,
  job: RunningJob,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const log = openAttemptLog(run, job);
  try {
    const parsed = JSON.parse(job.data) as Data;
    const data = run.schema === null ? parsed : await validate(`data of job ${job.id}`, run.schema, parsed);
    return await callHandler(run.handler, activeJob(job, data, handlerPort(run, job, { context, log })));
  } finally {
    await log.close();
  }
}

/** The parts of an attempt that the calls of its handler use. */
export interface AttemptParts {
  readonly context: AttemptContext;
  readonly log: AttemptLog;
}

/** Returns what the calls of a handler do, in the worker. */
export function handlerPort(
  run: Pick<HandlerHost<unknown>, 'store' | 'onLog'>,
  job: RunningJob,
  { context, log }: AttemptParts,
): HandlerPort {
  return {
    signal: () => context.signal,
    parents: () => parentsOf(run.store, job),
    progress: (percent, text) => context.progress(percent, text),
    checkpoint: (text: string) => void context.checkpoint(text).catch(() => undefined),
    log: (line: string) => {
      context.alive();
      log.write(line);
      run.onLog(job, line);
    },
  };
}
