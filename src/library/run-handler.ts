/** Runs a handler in this process: parses and checks the data, calls the handler, and returns its outcome. */
import type { RunningJob } from '../core/job/job.ts';
import type { Store } from '../core/ports/store.ts';
import type { Attachment } from '../files/attachments/attachments.ts';
import type { ParentJob } from '../files/attachments/parents.ts';
import { parentsOf } from '../files/attachments/parents.ts';
import type { AttemptContext, AttemptOutcome } from '../worker/attempt/run-outcome.ts';
import type { Handler, HandlerPort } from './active-job.ts';
import { activeJob } from './active-job.ts';
import type { AttemptLog } from './attempt-log.ts';
import { openAttemptLog } from './attempt-log.ts';
import { callUserHandler } from './call-user-handler.ts';
import { attachOutput } from './files/attach-output.ts';
import type { FileContent } from './files/file-content.ts';
import type { FilePlace } from './files/file-place.ts';
import { attachResult, hasLargeResult } from './files/large-result.ts';
import type { StandardSchema } from './standard-schema.ts';
import { validate } from './standard-schema.ts';
import type { StepCalls } from './steps/step-calls.ts';
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
    const outcome = await callUserHandler(run.handler, activeJob(job, data, port));
    return hasLargeResult(outcome) ? await attachResult(outcome, port) : outcome;
  } finally {
    if (log.isOpen) await log.close();
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
export function handlerPort(host: PortHost, job: RunningJob, parts: AttemptParts): HandlerPort {
  return new WorkerPort(host, job, parts);
}

type PortHost = Pick<HandlerHost<unknown>, 'store' | 'files' | 'onLog'>;

/** A class, for the reason in attempt-log.ts. Most short handlers call none of its functions. */
class WorkerPort implements HandlerPort {
  readonly files: FilePlace;
  readonly #host: PortHost;
  readonly #job: RunningJob;
  readonly #parts: AttemptParts;
  #steps: StepCalls | null = null;

  constructor(host: PortHost, job: RunningJob, parts: AttemptParts) {
    this.files = host.files;
    this.#host = host;
    this.#job = job;
    this.#parts = parts;
  }

  /** Created on first use: most jobs have no steps. */
  get steps(): StepCalls {
    const attach: HandlerPort['attach'] = (name, content) => this.attach(name, content);
    const confirmLease = (): Promise<void> => this.#parts.context.confirmLease();
    this.#steps ??= stepCalls(this.#host.store, this.#job, { files: this.files, attach, confirmLease });
    return this.#steps;
  }

  signal(): AbortSignal {
    return this.#parts.context.signal;
  }

  attach(name: string, content: FileContent): Promise<Attachment> {
    return attachOutput(this.files, { job: this.#job, context: this.#parts.context, name, content });
  }

  parents(): Promise<readonly ParentJob[]> {
    return parentsOf(this.#host.store, this.#job, (id) => this.files.list(id));
  }

  progress(percent: number | null, text: string | null): void {
    this.#parts.context.progress(percent, text);
  }

  checkpoint(text: string): void {
    this.#parts.context.checkpoint(text).catch(() => undefined);
  }

  log(line: string): void {
    this.#parts.context.alive();
    this.#parts.log.write(line);
    this.#host.onLog(this.#job, line);
  }
}
