/**
 * One queue of this node at work: its worker, and whether its script can be run at the moment.
 *
 * A script that is missing or may not be run pauses the lane and says so; nothing is lost, and it goes on by itself
 * once the script is right. A complaint that stops nothing (a file that cannot be read while its last good content is
 * in force) is told all the same.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Worker } from '../../worker/loop/worker.ts';
import type { DrainSwitch } from '../cluster/drain-switch.ts';
import { checkScript } from '../scripts/check-script.ts';
import { COMMANDS_SCRIPT } from '../scripts/command-job.ts';
import type { QueueDefinition } from './queue-folder.ts';

export interface LaneOptions {
  readonly queue: string;
  readonly concurrency: number;
  readonly scriptFolders: readonly string[];
  readonly own: readonly RunningJob[];
  readonly drain: DrainSwitch;
  makeWorker(lane: { queue: string; concurrency: number; own: readonly RunningJob[] }): Worker;
  onProblem(queue: string, problem: string | null): void;
}

export class QueueRunner {
  readonly queue: string;
  readonly #options: LaneOptions;
  readonly #worker: Worker;
  readonly #undo: () => void;
  #concurrency: number;
  #secrets: Readonly<Record<string, string>> = {};
  #ownScript: string | null = null;
  /** Undefined until the first look, so that also "none" is told once. */
  #problem: string | null | undefined;
  #isBlocked = false;
  #isDraining = false;

  constructor(options: LaneOptions) {
    const { queue, concurrency, own } = options;
    this.#options = options;
    this.queue = queue;
    this.#concurrency = concurrency;
    this.#worker = options.makeWorker({ queue, concurrency, own });
    this.#undo = options.drain.listen((isDraining) => {
      this.#isDraining = isDraining;
      this.#claimOrNot();
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

  /** As the file of this node names it; null where none does. */
  get ownScript(): string | null {
    return this.#ownScript;
  }

  async start(definition: QueueDefinition): Promise<void> {
    await this.look(definition);
    await this.#worker.start();
  }

  /** Looks at its script again. */
  async look(definition: QueueDefinition): Promise<void> {
    if (definition.problem === null) this.#secrets = definition.secrets;
    if (definition.origin === 'file') this.#ownScript = definition.script;
    const problem = definition.script === null ? definition.problem : await this.#problemOfScript(definition.script);
    this.report(problem ?? definition.problem, { isBlocking: problem !== null });
  }

  report(problem: string | null, { isBlocking = problem !== null }: { isBlocking?: boolean } = {}): void {
    this.#isBlocked = isBlocking;
    this.#claimOrNot();
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onProblem(this.queue, problem);
  }

  resize(concurrency: number): void {
    if (concurrency === this.#concurrency) return;
    this.#concurrency = concurrency;
    this.#worker.resize(concurrency);
  }

  /** Scripts go on without us; their leases are made long enough for the next node. */
  async leave(absenceMs: number): Promise<void> {
    this.#undo();
    await this.#worker.stop({ leaveMs: absenceMs });
  }

  #claimOrNot(): void {
    if (this.#isBlocked || this.#isDraining) this.#worker.pause();
    else this.#worker.resume();
  }

  async #problemOfScript(script: string): Promise<string | null> {
    if (script === COMMANDS_SCRIPT) return null;
    const checked = checkScript(script, this.#options.scriptFolders);
    return 'problem' in checked ? checked.problem : null;
  }
}
