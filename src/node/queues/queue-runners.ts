/**
 * All queues of this node: follows the folder of the queues, look by look.
 *
 * Invariant: a queue that was seen once keeps its lane as long as the node lives, also when its file is gone, because
 * its scripts may still run.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { BUILT_IN_QUEUES } from '../../core/job/relay-request.ts';
import type { Store } from '../../core/ports/store.ts';
import type { SettingsCache } from '../../worker/loop/settings-cache.ts';
import { applyDefinition } from './apply-definition.ts';
import { applySchedules } from './file-schedules.ts';
import type { QueueDefinition } from './queue-folder.ts';
import type { LaneOptions } from './queue-runner.ts';
import { QueueRunner } from './queue-runner.ts';

export interface LanesOptions extends Pick<LaneOptions, 'scriptFolders' | 'makeWorker' | 'drain'> {
  readonly store: Store;
  readonly settings: SettingsCache;
  onProblem(queue: string, problem: string | null, notices: readonly string[]): void;
}

const GONE = 'its file is gone';

export class QueueRunners {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<string, QueueRunner>();
  /** Deleted queues without a file: their lanes stay, and nothing shows them. */
  readonly #deleted = new Set<string>();
  readonly #fromRecords = new Set<string>();
  /** What each file said when it was last brought into the settings. */
  readonly #applied = new Map<string, string>();
  /** What there is to say of each beside its problem, and whether it was said. */
  readonly #notices = new Map<string, { readonly words: readonly string[]; isTold: boolean }>();

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  get(queue: string): QueueRunner | undefined {
    return this.#lanes.get(queue);
  }

  problems(): ReadonlyMap<string, string | null> {
    return new Map(this.all().map((lane) => [lane.queue, lane.problem]));
  }

  all(): readonly QueueRunner[] {
    return [...this.#lanes.values()].filter(({ queue }) => !this.#deleted.has(queue));
  }

  /** `own`: attempts of an earlier node, also of queues that have no file any more. */
  async takeIn(definitions: readonly QueueDefinition[], own: readonly RunningJob[] = []): Promise<void> {
    const { settings } = this.#options;
    const names = new Set(definitions.map(({ name }) => name));
    const orphaned = new Set(own.map(({ queue }) => queue).filter((queue) => !names.has(queue)));
    for (const definition of definitions.filter(isBuiltIn)) await this.#applyBuiltIn(definition);
    for (const definition of [...definitions.filter((each) => !isBuiltIn(each)), ...[...orphaned].map(withoutFile)])
      await this.#takeInOne(
        definition,
        own.filter(({ queue }) => queue === definition.name),
      );
    for (const { name, origin } of definitions) this.#fromRecords[origin === 'record' ? 'add' : 'delete'](name);
    for (const [name, lane] of this.#lanes) {
      if (names.has(name)) this.#deleted.delete(name);
      else if (this.#fromRecords.has(name) || settings.at(name).state === 'deleted') this.#forget(lane);
      else lane.report(GONE);
    }
  }

  /** Nothing shows a deleted queue, and a file that comes back creates it again. */
  #forget(lane: QueueRunner): void {
    this.#deleted.add(lane.queue);
    this.#applied.delete(lane.queue);
    lane.report(null, { isBlocking: true });
  }

  async leave(absenceMs: number): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.leave(absenceMs)));
  }

  async #takeInOne(definition: QueueDefinition, own: readonly RunningJob[]): Promise<void> {
    const { name } = definition;
    await this.#apply(definition);
    const { concurrency, script } = this.#options.settings.at(name);
    // A file that cannot be read leaves in force what it said before.
    const inForce = definition.problem === null ? definition : { ...definition, script };
    this.#takeNotices(definition);
    const lane = this.#lanes.get(name) ?? (await this.#startLane(inForce, { concurrency, own }));
    lane.resize(concurrency);
    await lane.look(inForce);
    if (this.#notices.get(name)?.isTold === false) this.#tell(name, lane.problem);
  }

  /** Its lane is elsewhere (built-in-lane.ts); only its settings come from the file. */
  async #applyBuiltIn(definition: QueueDefinition): Promise<void> {
    const { name, problem, notices } = definition;
    const isNew = this.#applied.get(name) !== JSON.stringify(definition);
    await this.#apply(definition);
    if (problem !== null) this.#applied.set(name, JSON.stringify(definition));
    if (isNew && (problem !== null || notices.length > 0)) this.#options.onProblem(name, problem, notices);
  }

  #takeNotices({ name, notices }: QueueDefinition): void {
    const isKnown = JSON.stringify(this.#notices.get(name)?.words ?? []) === JSON.stringify(notices);
    if (!isKnown) this.#notices.set(name, { words: notices, isTold: notices.length === 0 });
  }

  #tell(queue: string, problem: string | null): void {
    const notices = this.#notices.get(queue);
    this.#options.onProblem(queue, problem, notices?.words ?? []);
    if (notices !== undefined) notices.isTold = true;
  }

  async #apply(definition: QueueDefinition): Promise<void> {
    const { store, settings } = this.#options;
    const text = JSON.stringify(definition);
    if (this.#applied.get(definition.name) === text) return;
    const isSettled = definition.problem !== null || definition.origin === 'record';
    const isApplied = isSettled || (await applyDefinition(store, definition));
    if (!isSettled) await applySchedules(store, definition);
    await settings.follow([definition.name]);
    if (isApplied) this.#applied.set(definition.name, text);
  }

  async #startLane(
    definition: QueueDefinition,
    { concurrency, own }: { concurrency: number; own: readonly RunningJob[] },
  ): Promise<QueueRunner> {
    const { scriptFolders, makeWorker, drain } = this.#options;
    const lane = new QueueRunner({
      queue: definition.name,
      concurrency,
      scriptFolders,
      own,
      drain,
      makeWorker,
      onProblem: (queue, problem) => this.#tell(queue, problem),
    });
    this.#lanes.set(definition.name, lane);
    await lane.start(definition);
    return lane;
  }
}

const isBuiltIn = ({ name }: QueueDefinition): boolean => BUILT_IN_QUEUES.includes(name);

function withoutFile(name: string): QueueDefinition {
  return { name, origin: 'record', settings: {}, script: null, secrets: {}, schedules: {}, notices: [], problem: GONE };
}
