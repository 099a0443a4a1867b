/**
 * Retention of a node's files: logs and attachments of ended jobs are removed before their jobs, if the queue sets a
 * limit of age, number or bytes. The oldest go first, a few in a step.
 *
 * Invariant: only files of ended jobs are removed, and no log of an attempt that started afterwards.
 */
import type { Job } from '../../core/job/job.ts';
import { ENDED_STATES, isEnded } from '../../core/job/job.ts';
import type { Prunable, Surplus } from '../../core/lifecycle/prunable.ts';
import { exceedsKeep, hasSurplus, surplusOf } from '../../core/lifecycle/prunable.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Keep } from '../../core/settings/settings.ts';
import type { StoredSize } from '../../core/statistics/storage.ts';
import type { Attachments } from '../../files/attachments/attachments.ts';
import type { SettingsCache } from '../../worker/loop/settings-cache.ts';
import type { Home } from '../home.ts';
import type { FileKind, KeptFiles } from './kept-files.ts';
import { FILE_KINDS, logsOf, removeLogs } from './kept-files.ts';

export interface FileRetentionOptions {
  readonly home: Home;
  readonly store: Store;
  readonly attachments: Attachments;
  readonly kept: KeptFiles;
  readonly settings: Pick<SettingsCache, 'read'>;
}

/** Jobs per step for one kind and queue. */
const STEP = 100;
/** Jobs whose files one read measures. */
const MAX_MEASURED = 500;
const NONE: StoredSize = { count: 0, bytes: 0 };

interface Limit {
  readonly queue: string;
  readonly kind: FileKind;
  readonly keep: Keep;
}

export class FileRetention {
  readonly #options: FileRetentionOptions;
  /** By kind and queue: the files of jobs that ended before this time are removed. Restarts with every node. */
  readonly #endedUpTo = new Map<string, number>();

  readonly #watched = new Set<string>();

  constructor(options: FileRetentionOptions) {
    this.#options = options;
  }

  /** Returns whether files of the queue have a limit: then they are counted as jobs end. */
  isWatched(queue: string): boolean {
    return this.#watched.has(queue);
  }

  /** Returns the size of one job's files. */
  async held(id: string, kind: FileKind): Promise<StoredSize> {
    const { home, attachments } = this.#options;
    if (kind === 'logs') return logsOf(home, id);
    const files = await attachments.list(id);
    return { count: files.length === 0 ? 0 : 1, bytes: files.reduce((sum, { size }) => sum + size, 0) };
  }

  /** Returns whether another step would find more at once. */
  async step(now: number): Promise<boolean> {
    const { kept, settings, store } = this.#options;
    let isMore = false;
    for (const { queue } of await store.jobs.insight({ kind: 'storage' })) {
      const { retention } = await settings.read(queue);
      if (FILE_KINDS.some((kind) => isLimited(retention[kind]))) this.#watched.add(queue);
      else this.#watched.delete(queue);
      for (const kind of FILE_KINDS)
        if (isLimited(retention[kind]) && (kept.of(queue)?.[kind].count ?? 0) > 0)
          isMore = (await this.#prune({ queue, kind, keep: retention[kind] }, now)) || isMore;
    }
    return isMore;
  }

  /** Returns what a step would remove now, measured on the oldest jobs. */
  async prunable(now: number, only?: string): Promise<readonly Prunable[]> {
    const { kept, settings } = this.#options;
    const found: Prunable[] = [];
    for (const queue of kept.queues()) {
      if (only !== undefined && queue !== only) continue;
      const { retention } = await settings.read(queue);
      for (const kind of FILE_KINDS) {
        const limit = { queue, kind, keep: retention[kind] };
        if (isLimited(limit.keep)) found.push({ queue, kind, ...(await this.#surplus(limit, now)) });
      }
    }
    return found.filter(hasSurplus);
  }

  async #surplus({ queue, kind, keep }: Limit, now: number): Promise<Surplus> {
    const jobs = await this.#oldest(queue, this.#endedUpTo.get(`${kind} ${queue}`) ?? 0, MAX_MEASURED);
    const oldest: number[] = [];
    let old = 0;
    for (const job of jobs) {
      const { count, bytes } = await this.held(job.id, kind);
      if (count === 0) continue;
      oldest.push(bytes);
      if (keep.ms !== null && (job.endedAt ?? 0) < now - keep.ms) old += 1;
    }
    return surplusOf({ total: this.#options.kept.of(queue)?.[kind] ?? NONE, old, oldest }, keep);
  }

  async #prune(limit: Limit, now: number): Promise<boolean> {
    const { queue, kind, keep } = limit;
    const key = `${kind} ${queue}`;
    const from = this.#endedUpTo.get(key) ?? 0;
    const jobs = await this.#oldest(queue, from, STEP);
    for (const job of jobs) {
      const endedAt = job.endedAt ?? 0;
      const isOld = keep.ms !== null && endedAt < now - keep.ms;
      if (!isOld && !exceedsKeep(this.#options.kept.of(queue)?.[kind] ?? NONE, keep)) return false;
      this.#options.kept.change(queue, kind, await this.#remove(job, kind), -1);
      // The next step starts with jobs that ended at the same time; after a step full of them, with later ones.
      this.#endedUpTo.set(key, endedAt > from ? endedAt : endedAt + (job === jobs.at(-1) ? 1 : 0));
    }
    return jobs.length >= STEP;
  }

  /** Returns the oldest ended jobs of all three states. */
  async #oldest(queue: string, from: number, limit: number): Promise<readonly Job[]> {
    const { jobs } = this.#options.store;
    const queries = ENDED_STATES.map((state) => jobs.insight({ kind: 'ended', queue, state, from, limit }));
    const ends = (await Promise.all(queries)).flat().sort((a, b) => a.endedAt - b.endedAt);
    const found = await jobs.find(ends.slice(0, limit).map(({ id }) => id));
    return found.filter((job): job is Job => job !== null && isEnded(job.state) && job.queue === queue);
  }

  async #remove(job: Job, kind: FileKind): Promise<StoredSize> {
    const { home, attachments } = this.#options;
    const held = await this.held(job.id, kind);
    if (kind === 'logs') await removeLogs(home, job.id, job.attempt);
    else await attachments.removeAll(job.id);
    return held;
  }
}

function isLimited({ ms, count, bytes }: Keep): boolean {
  return ms !== null || count !== null || bytes !== null;
}
