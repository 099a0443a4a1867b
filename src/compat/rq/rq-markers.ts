/**
 * RQ's marker files: `config/<queue>.down` and `config/<queue>.pause` in the data directory, which an operator can
 * create and remove with `touch` and `rm`. `down` has precedence.
 *
 *     a marker appears or goes ──▶ the queue's state follows
 *     the state is changed elsewhere ──▶ markers that contradict it are removed
 *
 * RQ's own operations only create and remove the files, then `sync` applies them.
 */
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { QueueState, SettableState } from '../../core/settings/settings.ts';

export type RqOperation = 'pause' | 'resume' | 'down' | 'up';

export interface RqMarkersOptions {
  /** The data directory. */
  readonly root: string;
  queues(): Iterable<string>;
  state(queue: string): Promise<QueueState>;
  setState(queue: string, state: SettableState): Promise<void>;
  onTrouble(what: string, error: unknown): void;
}

const SYNC_INTERVAL_MS = 5_000;
const MARKERS: Readonly<Record<RqOperation, { suffix: 'down' | 'pause'; isThere: boolean }>> = {
  pause: { suffix: 'pause', isThere: true },
  resume: { suffix: 'pause', isThere: false },
  down: { suffix: 'down', isThere: true },
  up: { suffix: 'down', isThere: false },
};

export class RqMarkers {
  readonly #options: RqMarkersOptions;
  readonly #folder: string;
  /** The state that each queue's markers named at the last sync; a queue without markers is not in it. */
  #marked: ReadonlyMap<string, SettableState> = new Map();
  #syncing: Promise<void> = Promise.resolve();
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: RqMarkersOptions) {
    this.#options = options;
    this.#folder = join(options.root, 'config');
  }

  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.sync();
    this.#timer = setInterval(() => void this.sync(), SYNC_INTERVAL_MS).unref();
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, () => void this.sync());
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // The system has no watches left: the timer remains.
    }
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#watcher?.close();
    await this.#syncing;
  }

  /** Creates or removes a marker, and applies it. */
  async operate(queue: string, operation: RqOperation): Promise<void> {
    const { suffix, isThere } = MARKERS[operation];
    const path = join(this.#folder, `${queue}.${suffix}`);
    if (isThere) await writeFile(path, '', { mode: 0o644 });
    else await rm(path, { force: true });
    const before = this.#marked.get(queue);
    await this.sync();
    // Without a change of the markers the operation itself must count: the state may have come from elsewhere.
    if (before === this.#marked.get(queue)) await this.#options.setState(queue, this.#marked.get(queue) ?? 'up');
  }

  /** Applies the markers. A failure is reported, and the next sync follows soon. */
  sync(): Promise<void> {
    this.#syncing = this.#syncing
      .then(() => this.#apply())
      .catch((error: unknown) => this.#options.onTrouble("RQ's marker files could not be applied", error));
    return this.#syncing;
  }

  async #apply(): Promise<void> {
    const queues = new Set(this.#options.queues());
    const now = await this.#read(queues);
    const names = new Set([...this.#marked.keys(), ...now.keys()]);
    for (const queue of [...names].filter((name) => queues.has(name))) {
      const marked = now.get(queue) ?? 'up';
      if (marked !== (this.#marked.get(queue) ?? 'up')) await this.#options.setState(queue, marked);
      else if ((await this.#options.state(queue)) !== marked) await this.#remove(queue);
    }
    this.#marked = await this.#read(queues);
  }

  async #read(queues: ReadonlySet<string>): Promise<ReadonlyMap<string, SettableState>> {
    const files = new Set(await readdir(this.#folder));
    const marked = [...queues].flatMap((queue): [string, SettableState][] => {
      if (files.has(`${queue}.down`)) return [[queue, 'down']];
      return files.has(`${queue}.pause`) ? [[queue, 'paused']] : [];
    });
    return new Map(marked);
  }

  async #remove(queue: string): Promise<void> {
    for (const suffix of ['down', 'pause']) await rm(join(this.#folder, `${queue}.${suffix}`), { force: true });
  }
}
