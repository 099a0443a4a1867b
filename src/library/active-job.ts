/** A running job as its handler receives it, with the calls that a handler makes. */
import { toJsonText } from '../core/input/json.ts';
import type { JobPolicy, RunningJob } from '../core/job/job.ts';
import type { Attachment } from '../files/attachments/attachments.ts';
import type { ParentJob as StoredParent } from '../files/attachments/parents.ts';
import type { FileContent } from './files/file-content.ts';
import type { FileReader } from './files/file-place.ts';
import { createJobFile, createJobFiles, type JobFile, type JobFiles } from './files/job-files.ts';
import type { Outcome } from './outcome.ts';

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
}

/** The fields of a job that its handler receives. */
export type HandledJob = Pick<
  RunningJob,
  'id' | 'queue' | 'name' | 'tags' | 'priority' | 'attempt' | 'failures' | 'checkpoint'
> & { readonly lease: Pick<RunningJob['lease'], 'token'>; readonly policy: Pick<JobPolicy, 'traceparent'> };

export function activeJob<Data>(job: HandledJob, data: Data, port: HandlerPort): ActiveJob<Data> {
  return new HandlerJob(job, data, port);
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
  }

  get signal(): AbortSignal {
    return this.#port.signal();
  }

  get files(): JobFiles {
    return createJobFiles(this.#port.files, this.id);
  }

  get attach(): ActiveJob['attach'] {
    return async (name, content) => createJobFile(this.#port.files, this.id, await this.#port.attach(name, content));
  }

  get parents(): ActiveJob['parents'] {
    return async () => {
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

  get checkpoint(): ActiveJob['checkpoint'] {
    return (value) => this.#port.checkpoint(toJsonText('checkpoint', value, { dates: 'text' }));
  }
}
