/**
 * One isolated process or thread that runs jobs, one at a time.
 *
 *     starting ──ready──▶ idle ──run──▶ busy ──outcome──▶ idle
 *        │                 │             ├─stop─▶ stopping ──▶ ended
 *        └─unusable─▶ ended └─end─▶ ended └─crash──────────▶ ended
 *
 * Invariant: a run is answered exactly once. An isolate that was stopped never runs another job.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { badInput } from '../../core/ports/errors.ts';
import type { AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import type { StopReason } from '../../worker/attempt/stop-reason.ts';
import type { HandledJob, HandlerPort } from '../active-job.ts';
import { CallLink } from './call-link.ts';
import type { IsolateChannel, IsolateEnd, IsolateMessage, OpenChannel } from './isolate-channel.ts';
import type { IsolatedData } from './messages.ts';

/** One job for an isolate. */
export interface IsolatedRun {
  readonly job: RunningJob;
  readonly data: IsolatedData;
  readonly port: HandlerPort;
  /** Calls the listener when the job must stop; at once if it must already. */
  onStop(listener: (reason: StopReason) => void): void;
  /** How long it may continue after that. */
  readonly graceMs: number;
  onOutput(bytes: Uint8Array): void;
}

/** Bytes of output between two jobs that are kept for the log of the next one. */
const MAX_IDLE_OUTPUT = 64 * 1024;
/** How long an idle isolate may take to end. */
const END_MS = 5_000;

interface Current {
  readonly run: IsolatedRun;
  readonly link: CallLink;
  readonly resolve: (outcome: AttemptOutcome) => void;
  outcome: AttemptOutcome | null;
}

export class Isolate {
  /** Resolves when the module is loaded. Rejects with `bad-input` when it cannot be used. */
  readonly ready: Promise<void>;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<IsolateEnd>;
  readonly #channel: IsolateChannel;
  #ready: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;
  #problem: string | null = null;
  #current: Current | null = null;
  #isReady = false;
  #isOver = false;
  #idleOutput: Buffer[] = [];
  #jobs = 0;

  constructor(address: string, open: OpenChannel) {
    let onEnd: (end: IsolateEnd) => void = () => undefined;
    this.ended = new Promise((resolve) => {
      onEnd = resolve;
    });
    this.ready = new Promise((resolve, reject) => {
      this.#ready = { resolve, reject };
    });
    // A caller awaits it later, or never.
    this.ready.catch(() => undefined);
    this.#channel = open(address, {
      onMessage: (message) => this.#receive(message),
      onOutput: (bytes) => this.#output(bytes),
      onEnd: (end) => {
        this.#end(address, end);
        onEnd(end);
      },
    });
  }

  /** Its module is loaded. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** It can run another job. */
  get isUsable(): boolean {
    return !this.#isOver;
  }

  /** How many jobs it ran. */
  get jobs(): number {
    return this.#jobs;
  }

  /** The memory that it uses; 0 for a thread. Read from the system. */
  get rssBytes(): number {
    return this.#channel.rssBytes();
  }

  /** Throws when the data cannot be cloned. */
  run(run: IsolatedRun): Promise<AttemptOutcome> {
    const { job, data } = run;
    // First, because it throws for data that cannot be cloned.
    this.#channel.send({ kind: 'run', run: this.#jobs + 1, job: handledJob(job), data });
    this.#jobs += 1;
    const link = new CallLink({
      run: this.#jobs,
      target: run.port,
      send: (message) => this.#channel.send(message),
    });
    const outcome = new Promise<AttemptOutcome>((resolve) => {
      this.#current = { run, link, resolve, outcome: null };
    });
    for (const bytes of this.#idleOutput.splice(0)) run.onOutput(bytes);
    run.onStop((reason) => {
      if (this.#current?.run === run) this.#stop(reason, run.graceMs);
    });
    return outcome;
  }

  /** Ends an idle isolate. */
  end(): void {
    this.#isOver = true;
    this.#channel.send({ kind: 'end' });
    this.#channel.terminate(END_MS);
  }

  /** Kills it, whatever it does. */
  kill(): void {
    this.#isOver = true;
    this.#channel.kill();
  }

  #stop(reason: StopReason, graceMs: number): void {
    this.#isOver = true;
    this.#channel.send({ kind: 'abort', reason });
    this.#channel.terminate(graceMs);
  }

  #receive(message: IsolateMessage): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
        return this.#ready?.resolve();
      case 'unusable':
        this.#problem = message.problem;
        return;
      case 'call':
      case 'answer':
      case 'refusal':
        return this.#current?.link.receive(message);
      case 'outcome':
        return this.#ended(message.outcome);
    }
  }

  /** The outcome of a stopped run waits until nothing of the isolate is left. */
  #ended(outcome: AttemptOutcome): void {
    const current = this.#current;
    if (current === null) return;
    current.outcome = outcome;
    if (!this.#isOver) this.#answer(outcome);
  }

  #answer(outcome: AttemptOutcome): void {
    const current = this.#current;
    this.#current = null;
    if (current === null) return;
    current.link.end();
    current.resolve(outcome);
  }

  #output(bytes: Uint8Array): void {
    if (this.#current !== null) return this.#current.run.onOutput(bytes);
    const kept = Buffer.concat([...this.#idleOutput, bytes]);
    this.#idleOutput = [kept.subarray(Math.max(0, kept.length - MAX_IDLE_OUTPUT))];
  }

  #end(address: string, { how }: IsolateEnd): void {
    const wasStopped = this.#isOver;
    this.#isOver = true;
    const output = Buffer.concat(this.#idleOutput).toString().trim();
    const problem = this.#problem ?? `it ${how} while it was loaded${output === '' ? '' : `: ${output}`}`;
    this.#ready?.reject(badInput(`handler ${address}`, [{ path: '', message: problem }]));
    if (this.#current === null) return;
    const { outcome } = this.#current;
    this.#answer(outcome ?? (wasStopped ? KILLED : { kind: 'crash', reason: `the process of its handler ${how}` }));
  }
}

/** The stop reason decides what this means: the job is cancelled, has failed at its limit, or is released. */
const KILLED: AttemptOutcome = { kind: 'release', reason: 'its handler was killed after its grace' };

/** Leaves out what a handler does not receive: every field is cloned. */
function handledJob(job: RunningJob): HandledJob {
  const { id, queue, name, tags, priority, attempt, failures, checkpoint, steps, suspension, lease, policy } = job;
  const own = { id, queue, name, tags, priority, attempt, failures, checkpoint, steps, suspension };
  const { traceparent } = policy;
  return { ...own, lease: { token: lease.token }, policy: traceparent === undefined ? {} : { traceparent } };
}
