/**
 * The queue runners of a node. Each scan of `queues/` is reconciled with them.
 *
 * Invariant: a queue that was found once keeps its runner as long as the node lives, even when its file is removed,
 * because its scripts may still run.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { SYSTEM_QUEUES } from '../../core/job/relay-request.ts';
import type { Store } from '../../core/ports/store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { SettingsCache } from '../../worker/loop/settings-cache.ts';
import { applyDefinition } from './apply-definition.ts';
import { applySchedules } from './file-schedules.ts';
import type { QueueDefinition } from './queue-folder.ts';
import type { QueueRunnerOptions } from './queue-runner.ts';
import { QueueRunner } from './queue-runner.ts';

export interface QueueRunnersOptions extends Pick<QueueRunnerOptions, 'scriptFolders' | 'makeWorker' | 'drain'> {
  readonly store: Store;
  readonly settings: SettingsCache;
  /** Returns the path of the script that the settings name. */
  scriptPath(settings: QueueSettings): string | null;
  onProblem(queue: string, problem: string | null, notices: readonly string[]): void;
}

const FILE_REMOVED = 'its file was removed';

export class QueueRunners {
  readonly #options: QueueRunnersOptions;
  readonly #runners = new Map<string, QueueRunner>();
  /** Deleted queues without a file: their runners stay, but are not listed. */
  readonly #deleted = new Set<string>();
  readonly #fromRecords = new Set<string>();
  /** Each definition as last applied to the settings. */
  readonly #applied = new Map<string, string>();
  /** Notices of each queue in addition to its problem, and whether they were reported. */
  readonly #notices = new Map<string, { readonly lines: readonly string[]; isReported: boolean }>();

  constructor(options: QueueRunnersOptions) {
    this.#options = options;
  }

  get(queue: string): QueueRunner | undefined {
    return this.#runners.get(queue);
  }

  problems(): ReadonlyMap<string, string | null> {
    return new Map(this.all().map((runner) => [runner.queue, runner.problem]));
  }

  all(): readonly QueueRunner[] {
    return [...this.#runners.values()].filter(({ queue }) => !this.#deleted.has(queue));
  }

  /**
   * Updates the runners to these definitions. `own`: adopted attempts, including those of queues whose file was
   * removed.
   */
  async reconcile(definitions: readonly QueueDefinition[], own: readonly RunningJob[] = []): Promise<void> {
    const { settings } = this.#options;
    const names = new Set(definitions.map(({ name }) => name));
    const orphaned = new Set(own.map(({ queue }) => queue).filter((queue) => !names.has(queue)));
    for (const definition of definitions.filter(isSystemQueue)) await this.#applySystemQueue(definition);
    for (const definition of [...definitions.filter((each) => !isSystemQueue(each)), ...[...orphaned].map(withoutFile)])
      await this.#reconcileOne(
        definition,
        own.filter(({ queue }) => queue === definition.name),
      );
    for (const { name, origin } of definitions) this.#fromRecords[origin === 'record' ? 'add' : 'delete'](name);
    for (const [name, runner] of this.#runners) {
      if (names.has(name)) this.#deleted.delete(name);
      else if (this.#fromRecords.has(name) || settings.at(name).state === 'deleted') this.#hide(runner);
      else runner.report(FILE_REMOVED);
    }
  }

  /** A deleted queue is not listed. If its file returns, the queue is created again. */
  #hide(runner: QueueRunner): void {
    this.#deleted.add(runner.queue);
    this.#applied.delete(runner.queue);
    runner.report(null, { isBlocking: true });
  }

  async leave(absenceMs: number): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.leave(absenceMs)));
  }

  async #reconcileOne(definition: QueueDefinition, own: readonly RunningJob[]): Promise<void> {
    const { name } = definition;
    await this.#apply(definition);
    const settings = this.#options.settings.at(name);
    const { concurrency } = settings;
    // An unreadable file leaves its last valid settings in effect.
    const script = this.#options.scriptPath(settings);
    const effective = definition.problem === null ? definition : { ...definition, script };
    this.#setNotices(definition);
    const runner = this.#runners.get(name) ?? (await this.#startRunner(effective, { concurrency, own }));
    runner.resize(concurrency);
    await runner.update(effective);
    if (this.#notices.get(name)?.isReported === false) this.#report(name, runner.problem);
  }

  /** Applies only the settings of a system queue's file. SystemQueue runs it. */
  async #applySystemQueue(definition: QueueDefinition): Promise<void> {
    const { name, problem, notices } = definition;
    const isNew = this.#applied.get(name) !== JSON.stringify(definition);
    await this.#apply(definition);
    if (problem !== null) this.#applied.set(name, JSON.stringify(definition));
    if (isNew && (problem !== null || notices.length > 0)) this.#options.onProblem(name, problem, notices);
  }

  #setNotices({ name, notices }: QueueDefinition): void {
    const isKnown = JSON.stringify(this.#notices.get(name)?.lines ?? []) === JSON.stringify(notices);
    if (!isKnown) this.#notices.set(name, { lines: notices, isReported: notices.length === 0 });
  }

  #report(queue: string, problem: string | null): void {
    const notices = this.#notices.get(queue);
    this.#options.onProblem(queue, problem, notices?.lines ?? []);
    if (notices !== undefined) notices.isReported = true;
  }

  async #apply(definition: QueueDefinition): Promise<void> {
    const { store, settings } = this.#options;
    const text = JSON.stringify(definition);
    if (this.#applied.get(definition.name) === text) return;
    const needsNoFile = definition.problem !== null || definition.origin === 'record';
    const isApplied = needsNoFile || (await applyDefinition(store, definition));
    if (!needsNoFile) await applySchedules(store, definition);
    await settings.follow([definition.name]);
    if (isApplied) this.#applied.set(definition.name, text);
  }

  async #startRunner(
    definition: QueueDefinition,
    { concurrency, own }: { concurrency: number; own: readonly RunningJob[] },
  ): Promise<QueueRunner> {
    const { scriptFolders, makeWorker, drain } = this.#options;
    const runner = new QueueRunner({
      queue: definition.name,
      concurrency,
      scriptFolders,
      own,
      drain,
      makeWorker,
      onProblem: (queue, problem) => this.#report(queue, problem),
    });
    this.#runners.set(definition.name, runner);
    await runner.start(definition);
    return runner;
  }
}

const isSystemQueue = ({ name }: QueueDefinition): boolean => SYSTEM_QUEUES.includes(name);

function withoutFile(name: string): QueueDefinition {
  return {
    name,
    origin: 'record',
    settings: {},
    script: null,
    secrets: {},
    schedules: {},
    notices: [],
    problem: FILE_REMOVED,
  };
}
