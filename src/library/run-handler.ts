/** Runs a handler in this process: parses and checks the data, calls the handler, and returns its outcome. */
import type { RunningJob } from '../core/job/job.ts';
import type { Store } from '../core/ports/store.ts';
import { parentsOf } from '../files/attachments/parents.ts';
import type { AttemptContext, AttemptOutcome } from '../worker/attempt/run-outcome.ts';
import type { Handler, HandlerPort } from './active-job.ts';
import { activeJob } from './active-job.ts';
import type { AttemptLog } from './attempt-log.ts';
import { openAttemptLog } from './attempt-log.ts';
import { callUserHandler } from './call-user-handler.ts';
import { attachOutput } from './files/attach-output.ts';
import type { FilePlace } from './files/file-place.ts';
import { withSmallResult } from './files/large-result.ts';
import type { StandardSchema } from './standard-schema.ts';
import { validate } from './standard-schema.ts';
import { stepCalls } from './steps/step-calls.ts';

/** What handlers of a worker share, whether they are isolated or not. */
export interface HandlerHost<Data> {
  readonly schema: StandardSchema<unknown, Data> | null;
  readonly home: string | null;
  readonly store: Store;
  readonly files: FilePlace;
  onLog(job: RunningJob, line: string): void;
  onTrouble(what: string, error: unknown): void;
}

export interface HandlerRun<Data, Result> extends HandlerHost<Data> {
  readonly handler: Handler<Data, Result>;
}

export async function runHandler<Data, Result>(
  run: HandlerRun<Data, Result>,
  job: RunningJob,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const log = openHandlerLog(run, job);
  try {
    const parsed = JSON.parse(job.data) as Data;
    const data = run.schema === null ? parsed : await validate(`data of job ${job.id}`, run.schema, parsed);
    const port = handlerPort(run, job, { context, log });
    return await withSmallResult(await callUserHandler(run.handler, activeJob(job, data, port)), port.attach);
  } finally {
    await log.close();
  }
}

export function openHandlerLog(run: HandlerHost<unknown>, job: RunningJob): AttemptLog {
  return openAttemptLog(run, job, (error) => run.onTrouble(`the log of job ${job.id}`, error));
}

/** The parts of an attempt that the calls of its handler use. */
export interface AttemptParts {
  readonly context: AttemptContext;
  readonly log: AttemptLog;
}

/** Returns what the calls of a handler do, in the worker. */
export function handlerPort(
  { store, files, onLog }: Pick<HandlerHost<unknown>, 'store' | 'files' | 'onLog'>,
  job: RunningJob,
  { context, log }: AttemptParts,
): HandlerPort {
  const attach: HandlerPort['attach'] = (name, content) => attachOutput(files, { job, context, name, content });
  return {
    signal: () => context.signal,
    files,
    attach,
    parents: () => parentsOf(store, job, (id) => files.list(id)),
    steps: stepCalls(store, job, { files, attach, confirmLease: () => context.confirmLease() }),
    progress: (percent, text) => context.progress(percent, text),
    checkpoint: (text: string) => void context.checkpoint(text).catch(() => undefined),
    log: (line: string) => {
      context.alive();
      log.write(line);
      onLog(job, line);
    },
  };
}
