/** Load of a node's machine and its number of files, for its entry. No decision depends on it. */
import { readdir, statfs } from 'node:fs/promises';
import { freemem, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import type { NodeEntry, NodeQueue } from '../../wire/node-view.ts';
import type { Home } from '../home.ts';

export async function loadOf({ root }: Home, queues: readonly NodeQueue[]) {
  const disk = await statfs(root).catch(() => null);
  return {
    queues,
    slots: queues.reduce((sum, { slots }) => sum + slots, 0),
    running: queues.reduce((sum, { running }) => sum + running, 0),
    load: loadavg(),
    memory: { total: totalmem(), free: freemem(), rss: process.memoryUsage.rss() },
    disk: disk === null ? null : { total: disk.blocks * disk.bsize, free: disk.bavail * disk.bsize },
  };
}

const COUNT_INTERVAL_MS = 300_000;

/** Counted rarely: a data directory may have files of very many jobs. */
export class HeldFiles {
  readonly #home: Home;
  #counted: NodeEntry['holds'] = null;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(home: Home) {
    this.#home = home;
  }

  async count(): Promise<NodeEntry['holds']> {
    const now = performance.now();
    if (now - this.#countedAt < COUNT_INTERVAL_MS) return this.#counted;
    this.#countedAt = now;
    this.#counted = { jobs: (await namesIn(this.#home.jobs)).length, attachments: await this.#attachments() };
    return this.#counted;
  }

  /** Makes the next call count again. */
  forget(): void {
    this.#countedAt = Number.NEGATIVE_INFINITY;
  }

  async #attachments(): Promise<number> {
    const shards = (await namesIn(this.#home.blobs)).filter((name) => /^[0-9a-f]{2}$/.test(name));
    let count = 0;
    for (const shard of shards)
      count += (await namesIn(join(this.#home.blobs, shard))).filter((name) => /^[0-9a-f]{64}$/.test(name)).length;
    return count;
  }
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
