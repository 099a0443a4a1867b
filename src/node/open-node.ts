/**
 * The node: the queues of one home folder, worked by scripts.
 *
 *     lock ──▶ what is ours is found and its leases renewed ──▶ lanes start with it ──▶ the folder is watched
 *
 * Stopping it stops no script: leases are extended, and the next node of this home takes them up.
 */
import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from '../blobs/blobs.ts';
import { openBlobs } from '../blobs/open-blobs.ts';
import type { RunningJob } from '../core/job.ts';
import type { Store } from '../core/store.ts';
import type { Runner } from '../runner/open-runner.ts';
import { openRunner } from '../runner/open-runner.ts';
import { idSource } from '../worker/id-source.ts';
import { SettingsKeeper } from '../worker/settings-keeper.ts';
import { startUpkeep } from '../worker/upkeep.ts';
import type { Worker } from '../worker/worker.ts';
import { createWorker } from '../worker/worker.ts';
import type { WorkerEvent } from '../worker/worker-event.ts';
import { findOwn } from './adoption.ts';
import { applyDefinition } from './apply-definition.ts';
import { Attachments } from './attachments.ts';
import type { Home } from './home.ts';
import { takeNodeLock } from './node-lock.ts';
import type { NodeSettings } from './node-settings.ts';
import type { QueueDefinition } from './queue-folder.ts';
import { readQueueFolder } from './queue-folder.ts';
import { QueueLane } from './queue-lane.ts';
import { RunningMarks } from './running-marks.ts';
import type { ScriptHost } from './script-run.ts';
import { runScript } from './script-run.ts';

export interface NodeOptions {
  readonly home: Home;
  readonly store: Store;
  readonly settings: NodeSettings;
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  /** The environment from which scripts get their allow-list. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  onNews?(news: NodeNews): void;
}

export type NodeNews =
  | {
      readonly type: 'queue';
      readonly queue: string;
      readonly problem: string | null;
      readonly notices: readonly string[];
    }
  | { readonly type: 'adopted'; readonly jobs: number }
  | { readonly type: 'worker'; readonly event: WorkerEvent }
  | { readonly type: 'trouble'; readonly what: string; readonly error: unknown };

export interface Node {
  readonly attachments: Attachments;
  readonly blobs: Blobs;
  /** Queues by name, with what keeps each from being worked. */
  queues(): ReadonlyMap<string, string | null>;
  /** Looks at the folder of the queues now. */
  reload(): Promise<void>;
  stop(options?: { absenceMs?: number }): Promise<void>;
}

const ABSENCE_MS = 600_000;
const LOOK_EVERY_MS = 2_000;

export async function openNode(options: NodeOptions): Promise<Node> {
  await mkdir(options.home.queues, { recursive: true, mode: 0o700 });
  const lock = takeNodeLock(options.home.lock);
  try {
    const node = new ScriptNode(options, await openBlobs({ folder: options.home.blobs }));
    await node.start();
    return {
      attachments: node.attachments,
      blobs: node.blobs,
      queues: () => node.queues(),
      reload: () => node.look(),
      async stop({ absenceMs = ABSENCE_MS } = {}) {
        await node.stop(absenceMs);
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

class ScriptNode {
  readonly blobs: Blobs;
  readonly attachments: Attachments;
  readonly #options: NodeOptions;
  readonly #runner: Runner;
  readonly #marks: RunningMarks;
  readonly #settings: SettingsKeeper;
  readonly #lanes = new Map<string, QueueLane>();
  readonly #undo: (() => void)[] = [];
  #looking: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: NodeOptions, blobs: Blobs) {
    this.#options = options;
    this.blobs = blobs;
    this.attachments = new Attachments(options.store, blobs);
    this.#marks = new RunningMarks(join(options.home.root, 'running'));
    this.#settings = new SettingsKeeper(options.store);
    this.#runner = openRunner({ onTrouble: (what, error) => this.#trouble(what, error) });
  }

  queues(): ReadonlyMap<string, string | null> {
    return new Map([...this.#lanes].map(([name, lane]) => [name, lane.problem]));
  }

  async start(): Promise<void> {
    const { home, store } = this.#options;
    const own = await findOwn({ home, store, runner: this.#runner, marks: this.#marks });
    if (own.length > 0) this.#tell({ type: 'adopted', jobs: own.length });
    await this.#takeIn(await readQueueFolder(home), own);
    const upkeep = startUpkeep(store, (error) => this.#trouble('maintenance', error));
    const timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    const watcher = watch(home.queues, () => void this.look());
    this.#undo.push(
      () => upkeep.stop(),
      () => clearInterval(timer),
      () => watcher.close(),
    );
  }

  /** One look after the other; a look that fails is told, and the next one comes soon. */
  look(): Promise<void> {
    const next = this.#looking
      .then(async () => (this.#isStopping ? undefined : this.#takeIn(await readQueueFolder(this.#options.home), [])))
      .catch((error: unknown) => this.#trouble('the folder of the queues could not be read', error));
    this.#looking = next;
    return next;
  }

  async stop(absenceMs: number): Promise<void> {
    this.#isStopping = true;
    for (const undo of this.#undo.splice(0)) undo();
    await this.#looking;
    await Promise.all([...this.#lanes.values()].map((lane) => lane.leave(absenceMs)));
    await this.#runner.stop();
    this.#settings.close();
    await this.blobs.close();
  }

  async #takeIn(definitions: readonly QueueDefinition[], own: readonly RunningJob[]): Promise<void> {
    for (const definition of definitions)
      await this.#takeInOne(
        definition,
        own.filter(({ queue }) => queue === definition.name),
      );
    const names = new Set(definitions.map(({ name }) => name));
    for (const [name, lane] of this.#lanes) if (!names.has(name)) lane.report('its file is gone');
  }

  async #takeInOne(definition: QueueDefinition, own: readonly RunningJob[]): Promise<void> {
    if (definition.problem === null) {
      await applyDefinition(this.#options.store, definition);
      await this.#settings.follow([definition.name]);
    }
    const known = this.#lanes.get(definition.name);
    if (known === undefined) return this.#startLane(definition, own);
    const concurrency = definition.settings.concurrency ?? known.concurrency;
    if (concurrency === known.concurrency) return known.look(definition);
    await known.leave(this.#settings.at(definition.name).leaseMs);
    await this.#startLane(definition, known.running());
  }

  async #startLane(definition: QueueDefinition, own: readonly RunningJob[]): Promise<void> {
    const { home, settings } = this.#options;
    const lane = new QueueLane({
      definition,
      scriptFolders: [home.queues, ...settings.scriptDirs],
      own,
      makeWorker: (of) => this.#makeWorker(of),
      onProblem: (queue, problem) => this.#tell({ type: 'queue', queue, problem, notices: definition.notices }),
    });
    this.#lanes.set(definition.name, lane);
    await lane.start();
  }

  #makeWorker({ queue, concurrency, own }: { queue: string; concurrency: number; own: readonly RunningJob[] }): Worker {
    const { store, home, host, pid } = this.#options;
    const scripts = this.#scriptHost();
    return createWorker({
      store,
      queues: [queue],
      concurrency,
      own,
      run: (job, context) => runScript(scripts, job, context),
      settingsFor: (name) => this.#settings.at(name),
      host,
      pid,
      journalPath: home.journal,
      saysStarted: true,
      random: Math.random,
      newId: idSource(),
      onEvent: (event) => this.#heard(event),
    });
  }

  #heard(event: WorkerEvent): void {
    this.#tell({ type: 'worker', event });
    if (event.type !== 'ended') return;
    this.#marks.remove(event.job).catch((error: unknown) => this.#trouble('a mark could not be removed', error));
  }

  #scriptHost(): ScriptHost {
    const { store, home, settings, version, inherited } = this.#options;
    return {
      store,
      home,
      version,
      inherited,
      node: settings,
      runner: this.#runner,
      blobs: this.blobs,
      marks: this.#marks,
      attachments: this.attachments,
      hasQueue: (name) => this.#lanes.has(name),
      settingsFor: (queue) => this.#settings.at(queue),
      onScriptProblem: (queue, problem) => this.#lanes.get(queue)?.report(problem),
      onTrouble: (what, error) => this.#trouble(what, error),
    };
  }

  #trouble(what: string, error: unknown): void {
    this.#tell({ type: 'trouble', what, error });
  }

  #tell(news: NodeNews): void {
    this.#options.onNews?.(news);
  }
}
