/**
 * The files of jobs that are no more: their folders, their attachments' records, and blobs that nobody needs.
 *
 * Most is done as the store tells of a deletion; a slow sweep finds what was deleted while no node was there. It
 * sweeps only a home that has always been this store's: by another store's word nothing here is known.
 */
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from '../blobs/blobs.ts';
import type { Store } from '../core/store.ts';
import type { Attachments } from './attachments.ts';
import { forgetCommand } from './command-job.ts';
import type { Home } from './home.ts';
import { jobFolder } from './home.ts';
import { storeIdentity } from './store-identity.ts';

export interface JobFilesOptions {
  readonly home: Home;
  readonly store: Store;
  readonly blobs: Blobs;
  readonly attachments: Attachments;
  onTrouble(what: string, error: unknown): void;
}

const SWEEP_EVERY_MS = 600_000;
const PAGE = 200;
/** A folder may be made a moment before its job can be found by another connection. */
const YOUNG_MS = 60_000;

export class JobFiles {
  readonly #options: JobFilesOptions;
  readonly #undo: (() => void)[] = [];
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: JobFilesOptions) {
    this.#options = options;
  }

  start(): void {
    const unsubscribe = this.#options.store.jobs.subscribe((events) => {
      const ids = events.filter(({ type }) => type === 'deleted').map(({ id }) => id);
      if (ids.length > 0) void this.#do('files of deleted jobs', () => this.#removeGone(ids));
    });
    const timer = setInterval(() => void this.sweep(), SWEEP_EVERY_MS);
    this.#undo.push(unsubscribe, () => clearInterval(timer));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const undo of this.#undo.splice(0)) undo();
    await this.#last;
  }

  /** Resolved when it is over; what goes wrong is told. */
  sweep(): Promise<void> {
    return this.#do('the sweep of files', () => this.#sweepAll());
  }

  /** One after the other, so that a stop has one thing to wait for. */
  #do(what: string, work: () => Promise<void>): Promise<void> {
    this.#last = this.#last
      .then(() => (this.#isStopped ? undefined : work()))
      .catch((error: unknown) => this.#options.onTrouble(what, error));
    return this.#last;
  }

  /** Asked again: an id may have been given to a new job meanwhile. */
  async #removeGone(ids: readonly string[]): Promise<void> {
    const { home, store, attachments } = this.#options;
    const found = await store.jobs.find(ids);
    for (const [place, id] of ids.entries()) {
      if (found[place] !== null) continue;
      await attachments.removeAll(id);
      await forgetCommand(store.records, id);
      await rm(jobFolder(home, id), { recursive: true, force: true });
    }
  }

  async #sweepAll(): Promise<void> {
    const { attachments, blobs } = this.#options;
    if (!(await this.#isOurHome())) return;
    for await (const ids of attachments.owners()) await this.#removeGone(ids);
    const folders = await this.#oldFolders();
    for (let at = 0; at < folders.length && !this.#isStopped; at += PAGE)
      await this.#removeGone(folders.slice(at, at + PAGE));
    if (!this.#isStopped) await blobs.sweep({ referenced: (hashes) => attachments.referenced(hashes) });
  }

  async #oldFolders(): Promise<readonly string[]> {
    const { home } = this.#options;
    const names = await readdir(home.jobs).catch(() => []);
    const ages = await Promise.all(
      names.map(async (name) => Date.now() - ((await stat(join(home.jobs, name)).catch(() => null))?.mtimeMs ?? 0)),
    );
    return names.filter((_, place) => (ages[place] ?? 0) > YOUNG_MS);
  }

  async #isOurHome(): Promise<boolean> {
    const { home, store } = this.#options;
    const identity = JSON.stringify(await storeIdentity(store.records));
    const path = join(home.root, 'store-identity');
    const known = await readFile(path, 'utf8').catch(() => null);
    if (known === null) await writeFile(path, identity, { mode: 0o600 });
    return known === null || known === identity;
  }
}
