/**
 * One queue of this node at work: its worker, and whether its script can be run at the moment.
 *
 * A script that is missing or may not be run pauses the lane and says so; nothing is lost, and it goes on by itself
 * once the script is right.
 */
import type { RunningJob } from '../core/job.ts';
import { DEFAULT_SETTINGS } from '../core/settings.ts';
import type { Worker } from '../worker/worker.ts';
import { checkScript } from './check-script.ts';
import type { QueueDefinition } from './queue-folder.ts';

export interface LaneOptions {
  readonly definition: QueueDefinition;
  readonly scriptFolders: readonly string[];
  readonly own: readonly RunningJob[];
  makeWorker(lane: { queue: string; concurrency: number; own: readonly RunningJob[] }): Worker;
  onProblem(queue: string, problem: string | null): void;
}

export class QueueLane {
  readonly queue: string;
  readonly concurrency: number;
  readonly #options: LaneOptions;
  readonly #worker: Worker;
  #definition: QueueDefinition;
  #problem: string | null = null;

  constructor(options: LaneOptions) {
    const { definition, own } = options;
    this.#options = options;
    this.#definition = definition;
    this.queue = definition.name;
    this.concurrency = definition.settings.concurrency ?? DEFAULT_SETTINGS.concurrency;
    this.#worker = options.makeWorker({ queue: this.queue, concurrency: this.concurrency, own });
  }

  get problem(): string | null {
    return this.#problem;
  }

  async start(): Promise<void> {
    await this.look(this.#definition);
    await this.#worker.start();
  }

  /** Looks at its script again. */
  async look(definition: QueueDefinition): Promise<void> {
    this.#definition = definition;
    this.report(definition.problem ?? (await this.#problemOfScript(definition.script)));
  }

  report(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onProblem(this.queue, problem);
    if (problem === null) this.#worker.resume();
    else this.#worker.pause();
  }

  /** Scripts go on without us; their leases are made long enough for the next node. */
  async leave(absenceMs: number): Promise<void> {
    await this.#worker.stop({ leaveMs: absenceMs });
  }

  /** The queue is gone or changed its size: what runs goes on under the next lane of this node. */
  running(): readonly RunningJob[] {
    return this.#worker.running().map(({ job }) => job);
  }

  async #problemOfScript(script: string | null): Promise<string | null> {
    if (script === null) return 'the queue names no script';
    const checked = await checkScript(script, this.#options.scriptFolders);
    return 'problem' in checked ? checked.problem : null;
  }
}
