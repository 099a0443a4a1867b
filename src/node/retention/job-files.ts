/**
 * Removes the files of deleted jobs: directories, attachment records and unreferenced blobs. Also runs file retention.
 *
 * Most removals follow a store event. A slow sweep finds jobs that were deleted while no node ran. The sweep runs only
 * in a data directory that has always belonged to this store: another store does not know these jobs.
 */
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job } from '../../core/job/job.ts';
import { isEnded } from '../../core/job/job.ts';
import type { Prunable } from '../../core/lifecycle/prunable.ts';
import type { StoreEvent, StoreEventType } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Attachments } from '../../files/attachments/attachments.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import type { SettingsCache } from '../../worker/loop/settings-cache.ts';
import { storeIdentity } from '../../worker/outcome/store-identity.ts';
import type { Home } from '../home.ts';
import { jobFolder } from '../home.ts';
import { forgetCommand } from '../scripts/command-job.ts';
import { FileRetention } from './file-retention.ts';
import type { QueueFiles } from './kept-files.ts';
import { countIn, FILE_KINDS, KeptFiles, logsOf } from './kept-files.ts';

export interface JobFilesOptions {
  readonly home: Home;
  readonly store: Store;
  readonly blobs: Blobs;
  readonly attachments: Attachments;
  readonly settings: Pick<SettingsCache, 'read'>;
  onTrouble(what: string, error: unknown): void;
}

const SWEEP_INTERVAL_MS = 600_000;
const RETENTION_INTERVAL_MS = 10_000;
const PAGE = 200;
/** Events after which a job may have ended. */
const ENDS: ReadonlySet<StoreEventType> = new Set([
  'completed',
  'forwarded',
  'failed',
  'retried',
  'resent',
  'lost',
  'cancelled',
]);
/** A directory may be created shortly before another connection can find its job. */
const YOUNG_MS = 60_000;

export class JobFiles {
  /** Sizes as of the last sweep, updated with later removals. */
  readonly kept = new KeptFiles();
  readonly #options: JobFilesOptions;
  readonly #retention: FileRetention;
  readonly #undo: (() => void)[] = [];
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: JobFilesOptions) {
    this.#options = options;
    this.#retention = new FileRetention({ ...options, kept: this.kept });
  }

  start(): void {
    const unsubscribe = this.#options.store.jobs.subscribe((events) => this.#onEvents(events));
    const timers = [
      setInterval(() => void this.sweep(), SWEEP_INTERVAL_MS),
      setInterval(() => void this.retain(), RETENTION_INTERVAL_MS),
    ];
    this.#undo.push(unsubscribe, () => {
      for (const timer of timers) clearInterval(timer);
    });
    void this.sweep();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const undo of this.#undo.splice(0)) undo();
    await this.#last;
  }

  /** Resolves when the sweep is over; errors are reported. */
  sweep(): Promise<void> {
    return this.#enqueue('the sweep of files', () => this.#sweepAll());
  }

  /** Returns the files that retention would remove now. */
  prunable(queue?: string): Promise<readonly Prunable[]> {
    return this.#retention.prunable(Date.now(), queue);
  }

  /** Runs retention until nothing more can be removed now. */
  retain(): Promise<void> {
    return this.#enqueue('retention of files', async () => {
      while (!this.#isStopped && (await this.#retention.step(Date.now())));
    });
  }

  /** Runs tasks one after the other, so that a stop waits for one promise. */
  #enqueue(what: string, work: () => Promise<void>): Promise<void> {
    this.#last = this.#last
      .then(() => (this.#isStopped ? undefined : work()))
      .catch((error: unknown) => this.#options.onTrouble(what, error));
    return this.#last;
  }

  #onEvents(events: readonly StoreEvent[]): void {
    const counted = events.filter((event) => this.#retention.isWatched(event.queue) && signOf(event) !== 0);
    if (counted.length > 0) void this.#enqueue('files of ended jobs', () => this.#count(counted));
    const ids = events.filter(({ type }) => type === 'deleted').map(({ id }) => id);
    if (ids.length > 0) void this.#enqueue('files of deleted jobs', async () => void (await this.#removeGone(ids)));
  }

  /** Counts the files of ended and deleted jobs, for queues whose files have a limit. */
  async #count(events: readonly StoreEvent[]): Promise<void> {
    for (const event of events)
      for (const kind of FILE_KINDS)
        this.kept.change(event.queue, kind, await this.#retention.held(event.id, kind), signOf(event) < 0 ? -1 : 1);
  }

  /** Reads the jobs again: a deleted id may belong to a new job meanwhile. */
  async #removeGone(
    ids: readonly string[],
    excluded: ReadonlySet<string> = new Set(),
  ): Promise<readonly (Job | null)[]> {
    const { home, store, attachments } = this.#options;
    const found = await store.jobs.find(ids);
    for (const [index, id] of ids.entries()) {
      if (found[index] !== null || excluded.has(id)) continue;
      await attachments.removeAll(id);
      await forgetCommand(store.records, id);
      await rm(jobFolder(home, id), { recursive: true, force: true });
    }
    return found;
  }

  async #sweepAll(): Promise<void> {
    const { attachments, blobs } = this.#options;
    if (!(await this.#belongsToStore())) return;
    const sums = new Map<string, QueueFiles>();
    await this.#sweepOwners(sums);
    await this.#sweepFolders(sums);
    if (this.#isStopped) return;
    this.kept.replace(sums);
    await blobs.sweep({ referenced: (hashes) => attachments.referenced(hashes) });
  }

  async #sweepOwners(sums: Map<string, QueueFiles>): Promise<void> {
    let last: string | undefined;
    for await (const owners of this.#options.attachments.owners())
      for (const job of endedAmong(await this.#removeGone([...owners.keys()]))) {
        countIn(sums, job.queue, 'attachments', { count: job.id === last ? 0 : 1, bytes: owners.get(job.id) ?? 0 });
        last = job.id;
      }
  }

  async #sweepFolders(sums: Map<string, QueueFiles>): Promise<void> {
    const { home } = this.#options;
    const names = await readdir(home.jobs).catch((): string[] => []);
    for (let at = 0; at < names.length && !this.#isStopped; at += PAGE) {
      const page = names.slice(at, at + PAGE);
      for (const job of endedAmong(await this.#removeGone(page, await this.#young(page))))
        countIn(sums, job.queue, 'logs', await logsOf(home, job.id));
    }
  }

  async #young(names: readonly string[]): Promise<ReadonlySet<string>> {
    const { home } = this.#options;
    const ages = await Promise.all(
      names.map(async (name) => Date.now() - ((await stat(join(home.jobs, name)).catch(() => null))?.mtimeMs ?? 0)),
    );
    return new Set(names.filter((_, index) => (ages[index] ?? 0) <= YOUNG_MS));
  }

  async #belongsToStore(): Promise<boolean> {
    const { home, store } = this.#options;
    const identity = JSON.stringify(await storeIdentity(store.records));
    const path = join(home.root, 'store-identity');
    const known = await readFile(path, 'utf8').catch(() => null);
    if (known === null) await writeFile(path, identity, { mode: 0o600 });
    return known === null || known === identity;
  }
}

function endedAmong(jobs: readonly (Job | null)[]): readonly Job[] {
  return jobs.filter((job): job is Job => job !== null && isEnded(job.state));
}

/** Returns 1 if the event ends a job, -1 if an ended job was deleted or requeued, else 0. */
function signOf({ type, state }: StoreEvent): number {
  if (type === 'deleted') return state !== null && isEnded(state) ? -1 : 0;
  if (type === 'requeued') return -1;
  return ENDS.has(type) && state !== null && isEnded(state) ? 1 : 0;
}
