/**
 * The scripts that this node supervises, by token, and the requests to pause them.
 *
 * A request can arrive before its script has started, so it is remembered. The attempt's record says whether the script
 * is paused: a node that restarts tells a script that it paused from one that stopped itself.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Attempt } from '../../runner/attempt/attempt.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';
import { notePause, readAttemptRecord } from '../attempts/attempt-record.ts';

export interface RunningScript {
  readonly job: RunningJob;
  readonly context: AttemptContext;
  readonly attempt: Attempt;
  /** Started by this node: an earlier one cannot have paused it. */
  readonly isNew: boolean;
}

export class RunningScripts {
  readonly #scripts = new Map<number, RunningScript>();
  readonly #pauseRequests = new Map<number, boolean>();
  readonly #onTrouble: (what: string, error: unknown) => void;
  #last: Promise<void> = Promise.resolve();

  constructor(onTrouble: (what: string, error: unknown) => void) {
    this.#onTrouble = onTrouble;
  }

  add(script: RunningScript): void {
    const { token, pauseAskedAt } = script.job.lease;
    this.#scripts.set(token, script);
    const isPaused = this.#pauseRequests.get(token) ?? pauseAskedAt !== null;
    if (isPaused || !script.isNew) this.#applyPause(script, isPaused);
  }

  remove({ lease }: RunningJob): void {
    this.#scripts.delete(lease.token);
    this.#pauseRequests.delete(lease.token);
  }

  requestPause({ lease }: RunningJob, isAsked: boolean): void {
    this.#pauseRequests.set(lease.token, isAsked);
    const script = this.#scripts.get(lease.token);
    if (script !== undefined) this.#applyPause(script, isAsked);
  }

  /** Returns the number of running scripts of a queue. */
  count(queue: string): number {
    return [...this.#scripts.values()].filter(({ job }) => job.queue === queue).length;
  }

  find(job: string): RunningScript | undefined {
    return [...this.#scripts.values()].find(({ job: { id } }) => id === job);
  }

  folders(): readonly string[] {
    return [...this.#scripts.values()].map(({ attempt }) => attempt.folder);
  }

  /** Sequential: a pause takes several steps, and a later resume must not overtake it. */
  #applyPause(script: RunningScript, isPaused: boolean): void {
    this.#last = this.#last
      .then(() => applyPause(script, isPaused))
      .catch((error: unknown) => this.#onTrouble(`job ${script.job.id} could not be paused or resumed`, error));
  }
}

async function applyPause({ attempt, context }: RunningScript, isPaused: boolean): Promise<void> {
  const record = await readAttemptRecord(attempt.folder);
  const wasPaused = record !== null && record.pausedAt !== null;
  context.pauseLimits(isPaused);
  if (isPaused === wasPaused) return;
  if (isPaused) {
    await notePause(attempt.folder, true);
    await attempt.pause();
  } else {
    await attempt.resume();
    await notePause(attempt.folder, false);
  }
}
