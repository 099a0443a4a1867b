/** Rows of jobs for event streams, with a cache of queue settings. */
import type { Job } from '../../core/job/job.ts';
import type { Labelled } from '../../core/job/label.ts';
import { labelOf } from '../../core/job/label.ts';
import { withWaitReasons } from '../../core/limits/throttle-views.ts';
import type { Store } from '../../core/ports/store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { settingsOf } from '../../core/settings/settings.ts';
import type { JobRow } from '../../wire/job-event.ts';

export interface RowSources {
  readonly store: Store;
  readonly settings: { read(queue: string): Promise<QueueSettings> };
  now(): number;
}

/** The limit of rows in one read; further jobs have no row in their message. */
const MAX_ROWS = 500;
const MAX_SETTINGS = 1_000;
/** Longer rows are omitted, which bounds the memory of the event ring. */
const MAX_ROW_LENGTH = 2_048;

export class JobRows {
  readonly #sources: RowSources;
  readonly #settings = new Map<string, QueueSettings>();

  constructor(sources: RowSources) {
    this.#sources = sources;
  }

  /** Drops the cached settings of a queue. */
  forget(queue: string): void {
    this.#settings.delete(queue);
  }

  /** Returns rows by id, without deleted jobs and rows that are too long; empty if the store is unavailable. */
  async find(ids: readonly string[]): Promise<ReadonlyMap<string, JobRow>> {
    try {
      const jobs = ids.length === 0 ? [] : await this.#sources.store.jobs.find(ids.slice(0, MAX_ROWS));
      const found = jobs.filter((job) => job !== null);
      const rows = await this.#rowsOf(found);
      return new Map(rows.filter(([, row]) => JSON.stringify(row).length <= MAX_ROW_LENGTH));
    } catch {
      return new Map();
    }
  }

  async of(job: Job): Promise<JobRow> {
    const [row] = await this.#rowsOf([job]);
    return row === undefined
      ? toRow(job, labelOf(job, await this.#settingsOf(job.queue), this.#sources.now()))
      : row[1];
  }

  /** Builds rows with the labels of a job list, including wait reasons. */
  async #rowsOf(jobs: readonly Job[]): Promise<readonly (readonly [string, JobRow])[]> {
    const settings = new Map<string, QueueSettings>();
    for (const { queue } of jobs) settings.set(queue, settings.get(queue) ?? (await this.#settingsOf(queue)));
    const settingsFor = (queue: string): QueueSettings => settings.get(queue) ?? settingsOf(undefined);
    const now = this.#sources.now();
    const views = jobs.map((job) => ({ ...job, ...labelOf(job, settingsFor(job.queue), now) }));
    const labelled = await withWaitReasons(this.#sources.store.jobs, views, settingsFor);
    return labelled.map((job) => [job.id, toRow(job, job)]);
  }

  async #settingsOf(queue: string): Promise<QueueSettings> {
    const known = this.#settings.get(queue);
    if (known !== undefined) return known;
    const settings = await this.#sources.settings.read(queue);
    if (this.#settings.size >= MAX_SETTINGS) this.#settings.clear();
    this.#settings.set(queue, settings);
    return settings;
  }
}

function toRow(job: Job, { label, reason }: Labelled): JobRow {
  const { name, priority, tags, attempt, failures, createdAt, runAt, endedAt, progress, failure, lease } = job;
  return {
    label,
    reason,
    name,
    priority,
    tags,
    attempt,
    failures,
    createdAt,
    runAt,
    endedAt,
    progress,
    failure: failure === null ? null : { group: failure.group, message: failure.message },
    worker: lease?.worker ?? null,
    startedAt: lease?.startedAt ?? null,
  };
}
