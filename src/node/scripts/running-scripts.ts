/**
 * The scripts that this node attends, by token, and the wishes to pause them.
 *
 * A wish can come before its script has begun, so it is remembered. That a script is paused stands in its folder too:
 * a node that comes back knows a script it stopped from one that stopped itself.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Attempt } from '../../runner/attempt/attempt.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';
import { notePause, readAttemptRecord } from '../attempts/attempt-record.ts';

export interface RunningScript {
  readonly job: RunningJob;
  readonly context: AttemptContext;
  readonly attempt: Attempt;
  /** Begun by this node: an earlier one cannot have paused it. */
  readonly isNew: boolean;
}

export class RunningScripts {
  readonly #scripts = new Map<number, RunningScript>();
  readonly #wishes = new Map<number, boolean>();
  readonly #onTrouble: (what: string, error: unknown) => void;
  #last: Promise<void> = Promise.resolve();

  constructor(onTrouble: (what: string, error: unknown) => void) {
    this.#onTrouble = onTrouble;
  }

  add(script: RunningScript): void {
    const { token, pauseAskedAt } = script.job.lease;
    this.#scripts.set(token, script);
    const isPaused = this.#wishes.get(token) ?? pauseAskedAt !== null;
    if (isPaused || !script.isNew) this.#heed(script, isPaused);
  }

  remove({ lease }: RunningJob): void {
    this.#scripts.delete(lease.token);
    this.#wishes.delete(lease.token);
  }

  pauseAsked({ lease }: RunningJob, isAsked: boolean): void {
    this.#wishes.set(lease.token, isAsked);
    const script = this.#scripts.get(lease.token);
    if (script !== undefined) this.#heed(script, isAsked);
  }

  /** How many of this queue. */
  count(queue: string): number {
    return [...this.#scripts.values()].filter(({ job }) => job.queue === queue).length;
  }

  find(job: string): RunningScript | undefined {
    return [...this.#scripts.values()].find(({ job: { id } }) => id === job);
  }

  folders(): readonly string[] {
    return [...this.#scripts.values()].map(({ attempt }) => attempt.folder);
  }

  /** One after the other: a pause takes several looks, and the wish to go on must not be overtaken by it. */
  #heed(script: RunningScript, isPaused: boolean): void {
    this.#last = this.#last
      .then(() => heed(script, isPaused))
      .catch((error: unknown) => this.#onTrouble(`job ${script.job.id} could not be paused or go on`, error));
  }
}

async function heed({ attempt, context }: RunningScript, isPaused: boolean): Promise<void> {
  const record = await readAttemptRecord(attempt.folder);
  const wasPaused = record !== null && record.pausedAt !== null;
  context.standStill(isPaused);
  if (isPaused === wasPaused) return;
  if (isPaused) {
    await notePause(attempt.folder, true);
    await attempt.pause();
  } else {
    await attempt.resume();
    await notePause(attempt.folder, false);
  }
}
