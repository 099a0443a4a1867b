/** A job as its handler sees it, and how the handler speaks of its work. */

import { toJsonText } from '../core/input/json.ts';
import type { RunningJob } from '../core/job/job.ts';
import type { ParentJob } from '../files/attachments/parents.ts';
import type { Outcome } from './outcome.ts';

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
  /** 1 for the first run; grows with every claim, also after an interruption. */
  readonly attempt: number;
  /** How many earlier attempts failed. */
  readonly failures: number;
  /** The fence of this attempt: hand it to whatever must refuse a late writer. It only grows. */
  readonly token: number;
  /** What `checkpoint` last kept, in this attempt or an earlier one; undefined when nothing was. */
  readonly lastCheckpoint: unknown;
  /** Aborts when the lease is lost, the job is cancelled, its time is up, or this worker stops. */
  readonly signal: AbortSignal;
  /** The jobs that it waited for: how they ended, their results, the names of their files. */
  parents(): Promise<readonly ParentJob[]>;
  /** How far it is, 0 to 100 (null when unknown), and in words. */
  progress(percent: number | null, text?: string): void;
  /** Writes a line to the log of the attempt. */
  log(line: string): void;
  /** Keeps a value that the next attempt finds as `lastCheckpoint`. */
  checkpoint(value: unknown): void;
}

/** Returns the result, or one of advance, fail, retry, release, forward. Throwing is failing. */
export type Handler<Data = unknown, Result = unknown> = (
  job: ActiveJob<Data>,
) => Promise<Result | Outcome> | Result | Outcome;

/** The ways out of a handler into the worker. */
export interface Voice {
  /** Made when it is first asked for: most short handlers never do. */
  signal(): AbortSignal;
  parents(): Promise<readonly ParentJob[]>;
  progress(percent: number | null, text: string | null): void;
  log(line: string): void;
  checkpoint(text: string): void;
}

export function activeJob<Data>(job: RunningJob, data: Data, voice: Voice): ActiveJob<Data> {
  return new HandlersJob(job, data, voice);
}

/**
 * A class with getters, as worker/attempt/attempt-context.ts says why. What they answer may be taken out of the job and handed
 * on.
 */
class HandlersJob<Data> implements ActiveJob<Data> {
  readonly id: string;
  readonly queue: string;
  readonly name: string | null;
  readonly data: Data;
  readonly tags: readonly string[];
  readonly priority: number;
  readonly attempt: number;
  readonly failures: number;
  readonly token: number;
  readonly lastCheckpoint: unknown;
  readonly #voice: Voice;

  constructor(job: RunningJob, data: Data, voice: Voice) {
    this.id = job.id;
    this.queue = job.queue;
    this.name = job.name;
    this.data = data;
    this.tags = job.tags;
    this.priority = job.priority;
    this.attempt = job.attempt;
    this.failures = job.failures;
    this.token = job.lease.token;
    this.lastCheckpoint = job.checkpoint === null ? undefined : JSON.parse(job.checkpoint);
    this.#voice = voice;
  }

  get signal(): AbortSignal {
    return this.#voice.signal();
  }

  get parents(): ActiveJob['parents'] {
    return () => this.#voice.parents();
  }

  get progress(): ActiveJob['progress'] {
    return (percent, text) =>
      this.#voice.progress(percent === null ? null : Math.min(100, Math.max(0, percent)), text ?? null);
  }

  get log(): ActiveJob['log'] {
    return (line) => this.#voice.log(line);
  }

  get checkpoint(): ActiveJob['checkpoint'] {
    return (value) => this.#voice.checkpoint(toJsonText('checkpoint', value));
  }
}
