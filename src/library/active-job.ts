/** A running job as its handler receives it, with the calls that a handler makes. */
import type { Duration } from '../core/input/duration.ts';
import { toJsonText } from '../core/input/json.ts';
import type { JobPolicy, RunningJob } from '../core/job/job.ts';
import type { Attachment } from '../files/attachments/attachments.ts';
import type { ParentJob as StoredParent } from '../files/attachments/parents.ts';
import type { AttemptOutcome } from '../worker/attempt/run-outcome.ts';
import type { FileContent } from './files/file-content.ts';
import type { FileReader } from './files/file-place.ts';
import { createJobFile, createJobFiles, type JobFile, type JobFiles } from './files/job-files.ts';
import type { Outcome } from './outcome.ts';
import { HandlerSteps } from './steps/handler-steps.ts';
import { readStepResult } from './steps/large-step.ts';
import type { StepCalls } from './steps/step-calls.ts';
import type { ChildJob, ChildResult, StepOptions } from './steps/step-options.ts';

/** A job that another job waited for, with its files. */
export interface ParentJob<Result = unknown> extends StoredParent<Result> {
  /** Reads its files. A result over 256 KB is the file `result.json`. */
  readonly files: JobFiles;
}

/** A running job, as its handler receives it. */
export interface ActiveJob<Data = unknown> {
  /** The id of the job. */
  readonly id: string;
  /** The queue it runs in. */
  readonly queue: string;
  /** The name that the producer gave it. */
  readonly name: string | null;
  /** What the producer gave, checked by the schema of the queue. */
  readonly data: Data;
  /** Its tags. */
  readonly tags: readonly string[];
  /** Its priority; lower runs first. */
  readonly priority: number;
  /** The number of the attempt, from 1. It grows with every claim, even after an interruption. */
  readonly attempt: number;
  /** How many earlier attempts failed. */
  readonly failures: number;
  /** The W3C trace context of this attempt, to pass on to other systems; null without one. */
  readonly traceparent: string | null;
  /** The fencing token of this attempt, which only grows. Pass it to systems that must refuse a late writer. */
  readonly token: number;
  /** The last value that `checkpoint` kept, in this attempt or an earlier one; undefined for none. */
  readonly lastCheckpoint: unknown;
  /** Aborts when the lease is lost, the job is cancelled or exceeds a limit, or this worker stops. */
  readonly signal: AbortSignal;
  /** Its files: those that were added with it, and those that its attempts attached. */
  readonly files: JobFiles;
  /**
   * Attaches a file, in place of one of the same name of an earlier attempt. It is visible once it is complete, and stays
   * when the attempt fails. Rejects when the lease was lost.
   */
  attach(name: string, content: FileContent): Promise<JobFile>;
  /** Returns the jobs that it waited for: their states, results and files. */
  parents(): Promise<readonly ParentJob[]>;
  /** Reports progress: 0 to 100, or null when unknown, and a text. */
  progress(percent: number | null, text?: string): void;
  /** Writes a line to the log of the attempt. */
  log(line: string): void;
  /** Keeps a value for the next attempt, which finds it as `lastCheckpoint`. */
  checkpoint(value: unknown): void;
  /**
   * Runs a function once for the job: a later attempt gets the kept result, as JSON has it. A repeated name gets a number.
   */
  step<Result>(name: string, run: () => Promise<Result> | Result, options?: StepOptions): Promise<Result>;
  /** Sleeps. More than 5 s suspend the attempt: it holds no slot, and resumes after the time, which is fixed now. */
  sleep(time: Duration, options?: { name?: string }): Promise<void>;
  /** Waits, suspended, for an event of `longhaul.notify`, and returns its data. Throws `StepTimeout` after the timeout. */
  waitForEvent<Event = unknown>(name: string, options?: { timeout?: Duration }): Promise<Event>;
  /** Adds jobs once, waits for them, suspended, and returns their results. */
  children<Child = unknown>(
    jobs: readonly ChildJob[],
    options?: { name?: string },
  ): Promise<readonly ChildResult<Child>[]>;
}

/** Runs a job. Returns its result, or one of advance, fail, retry, release, forward. A handler that throws has failed. */
export type Handler<Data = unknown, Result = unknown> = (
  job: ActiveJob<Data>,
) => Promise<Result | Outcome> | Result | Outcome;

/** What the calls of a handler do in the worker. */
export interface HandlerPort {
  /** Created on first use: most short handlers never read it. */
  signal(): AbortSignal;
  /** Reads the files of this job and of its parents. */
  readonly files: FileReader;
  attach(name: string, content: FileContent): Promise<Attachment>;
  parents(): Promise<readonly StoredParent[]>;
  progress(percent: number | null, text: string | null): void;
  log(line: string): void;
  checkpoint(text: string): void;
  /** Keeps and reads the steps of this job, and adds its children. */
  readonly steps: StepCalls;
}

/** The fields of a job that its handler receives. */
export type HandledJob = Pick<
  RunningJob,
  'id' | 'queue' | 'name' | 'tags' | 'priority' | 'attempt' | 'failures' | 'checkpoint' | 'steps' | 'suspension'
> & { readonly lease: Pick<RunningJob['lease'], 'token'>; readonly policy: Pick<JobPolicy, 'traceparent'> };

export function activeJob<Data>(job: HandledJob, data: Data, port: HandlerPort): ActiveJob<Data> {
  return new HandlerJob(job, data, port);
}

/**
 * Resolves to the outcome of an attempt that was suspended, when no step is in flight; to null for any other. Returns null
 * for an attempt without steps.
 */
export function suspensionOf(job: ActiveJob): Promise<AttemptOutcome | null> | null {
  return job instanceof HandlerJob ? HandlerJob.suspensionOf(job) : null;
}

/** A class with getters, for the reason in worker/attempt/attempt-context.ts. Its functions may be detached. */
class HandlerJob<Data> implements ActiveJob<Data> {
  readonly id: string;
  readonly queue: string;
  readonly name: string | null;
  readonly data: Data;
  readonly tags: readonly string[];
  readonly priority: number;
  readonly attempt: number;
  readonly failures: number;
  readonly traceparent: string | null;
  readonly token: number;
  readonly lastCheckpoint: unknown;
  readonly #port: HandlerPort;
  readonly #before: Pick<HandledJob, 'steps' | 'suspension'>;
  /** Created on first use: most handlers have no steps. */
  #steps: HandlerSteps | null = null;

  static suspensionOf(job: HandlerJob<unknown>): Promise<AttemptOutcome | null> | null {
    return job.#steps === null ? null : job.#steps.outcome();
  }

  constructor(job: HandledJob, data: Data, port: HandlerPort) {
    this.id = job.id;
    this.queue = job.queue;
    this.name = job.name;
    this.data = data;
    this.tags = job.tags;
    this.priority = job.priority;
    this.attempt = job.attempt;
    this.failures = job.failures;
    this.traceparent = job.policy.traceparent ?? null;
    this.token = job.lease.token;
    this.lastCheckpoint = job.checkpoint === null ? undefined : JSON.parse(job.checkpoint);
    this.#port = port;
    this.#before = job;
  }

  get signal(): AbortSignal {
    return this.#port.signal();
  }

  get files(): JobFiles {
    const { files } = this.#port;
    const check = async (): Promise<void> => this.#steps?.check();
    const checked: FileReader = {
      list: (id) => check().then(() => files.list(id)),
      open: (id, file, range) => check().then(() => files.open(id, file, range)),
      localPath: (id, file) => check().then(() => files.localPath(id, file)),
    };
    return createJobFiles(checked, this.id);
  }

  get attach(): ActiveJob['attach'] {
    return async (name, content) => {
      this.#steps?.check();
      return createJobFile(this.#port.files, this.id, await this.#port.attach(name, content));
    };
  }

  get parents(): ActiveJob['parents'] {
    return async () => {
      this.#steps?.check();
      const parents = await this.#port.parents();
      return parents.map((parent) => ({ ...parent, files: createJobFiles(this.#port.files, parent.id) }));
    };
  }

  get progress(): ActiveJob['progress'] {
    return (percent, text) =>
      this.#port.progress(percent === null ? null : Math.min(100, Math.max(0, percent)), text ?? null);
  }

  get log(): ActiveJob['log'] {
    return (line) => this.#port.log(line);
  }

  get step(): ActiveJob['step'] {
    return (name, run, options) => this.#durable().step(name, run, options);
  }

  get sleep(): ActiveJob['sleep'] {
    return (time, options) => suspendable(this.#durable().sleep(time, options));
  }

  get waitForEvent(): ActiveJob['waitForEvent'] {
    return (name, options) => suspendable(this.#durable().waitForEvent(name, options));
  }

  get children(): ActiveJob['children'] {
    return (jobs, options) => suspendable(this.#durable().children(jobs, options));
  }

  get checkpoint(): ActiveJob['checkpoint'] {
    return (value) => {
      this.#steps?.check();
      this.#port.checkpoint(toJsonText('checkpoint', value, { dates: 'text' }));
    };
  }

  #durable(): HandlerSteps {
    this.#steps ??= new HandlerSteps({
      id: this.id,
      calls: this.#port.steps,
      before: this.#before.steps,
      hasWaitedForJobs: isForJobs(this.#before.suspension),
      signal: () => this.#port.signal(),
      resultOf: (step) => readStepResult(this.#port.files, this.id, step),
    });
    return this.#steps;
  }
}

/** Returns whether an attempt was suspended for other jobs, and not for a time or an event. */
function isForJobs(suspension: HandledJob['suspension']): boolean {
  return suspension !== null && suspension.until === null && suspension.event === null;
}

/** Returns the promise of a wait. Its rejection raises no unhandled rejection: a suspended handler may not await it. */
function suspendable<Value>(wait: Promise<Value>): Promise<Value> {
  wait.catch(() => undefined);
  return wait;
}
