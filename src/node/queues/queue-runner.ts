/**
 * Runs one queue of a node: its worker, and whether its script can run.
 *
 * A script that is missing or not executable pauses the worker and is reported. No job is lost, and the queue resumes
 * when the script is valid again. A problem that does not stop the queue (an unreadable file while its last valid
 * settings are in effect) is reported too.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { platformProblem, thisPlatform } from '../../runner/process-tree/platform.ts';
import type { Worker } from '../../worker/loop/worker.ts';
import type { DrainSwitch } from '../cluster/drain-switch.ts';
import { checkScript } from '../scripts/check-script.ts';
import { COMMANDS_SCRIPT } from '../scripts/command-job.ts';
import type { QueueDefinition } from './queue-folder.ts';

export interface QueueRunnerOptions {
  readonly queue: string;
  readonly concurrency: number;
  readonly scriptFolders: readonly string[];
  readonly own: readonly RunningJob[];
  readonly drain: DrainSwitch;
  makeWorker(runner: { queue: string; concurrency: number; own: readonly RunningJob[] }): Worker;
  onProblem(queue: string, problem: string | null): void;
}

export class QueueRunner {
  readonly queue: string;
  readonly #options: QueueRunnerOptions;
  readonly #worker: Worker;
  readonly #unsubscribe: () => void;
  #concurrency: number;
  #secrets: Readonly<Record<string, string>> = {};
  #ownScript: string | null = null;
  /** Undefined until the first check, so that "no problem" is reported once too. */
  #problem: string | null | undefined;
  #isBlocked = false;
  #isDraining = false;

  constructor(options: QueueRunnerOptions) {
    const { queue, concurrency, own } = options;
    this.#options = options;
    this.queue = queue;
    this.#concurrency = concurrency;
    this.#worker = options.makeWorker({ queue, concurrency, own });
    this.#unsubscribe = options.drain.listen((isDraining) => {
      this.#isDraining = isDraining;
      this.#pauseOrResume();
    });
  }

  get problem(): string | null {
    return this.#problem ?? null;
  }

  get concurrency(): number {
    return this.#concurrency;
  }

  get secrets(): Readonly<Record<string, string>> {
    return this.#secrets;
  }

  /** The script named by this node's file; null if it names none. */
  get ownScript(): string | null {
    return this.#ownScript;
  }

  async start(definition: QueueDefinition): Promise<void> {
    await this.update(definition);
    await this.#worker.start();
  }

  /** Applies a definition, and checks the script again. */
  async update(definition: QueueDefinition): Promise<void> {
    if (definition.problem === null) this.#secrets = definition.secrets;
    if (definition.origin === 'file') this.#ownScript = definition.script;
    const problem = definition.script === null ? definition.problem : await this.#scriptProblem(definition.script);
    this.report(problem ?? definition.problem, { isBlocking: problem !== null });
  }

  report(problem: string | null, { isBlocking = problem !== null }: { isBlocking?: boolean } = {}): void {
    this.#isBlocked = isBlocking;
    this.#pauseOrResume();
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onProblem(this.queue, problem);
  }

  resize(concurrency: number): void {
    if (concurrency === this.#concurrency) return;
    this.#concurrency = concurrency;
    this.#worker.resize(concurrency);
  }

  /** Stops the worker and leaves its scripts running. Their leases are extended for the next node. */
  async leave(absenceMs: number): Promise<void> {
    this.#unsubscribe();
    await this.#worker.stop({ leaveMs: absenceMs });
  }

  #pauseOrResume(): void {
    if (this.#isBlocked || this.#isDraining) this.#worker.pause();
    else this.#worker.resume();
  }

  async #scriptProblem(script: string): Promise<string | null> {
    const unsupported = platformProblem(thisPlatform());
    if (unsupported !== null || script === COMMANDS_SCRIPT) return unsupported;
    const checked = checkScript(script, this.#options.scriptFolders);
    return 'problem' in checked ? checked.problem : null;
  }
}
