/** One queue of a connection. The rules are in the core, not here. */
import type { AddOptions as StoredOptions } from '../core/input/add-options.ts';
import { newJobsWith, toNewJob } from '../core/input/add-options.ts';
import { toJsonText } from '../core/input/json.ts';
import { sameJson } from '../core/input/same-json.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { SeriesQuery, StatisticsQuery } from '../core/ports/insight.ts';
import type { AddResult, CancelResult, FailureGroup, JobQuery, NewJob, QueueCounts } from '../core/ports/job-store.ts';
import type { ScheduleInput } from '../core/schedules/schedule-input.ts';
import { deleteQueue, totalJobs } from '../core/settings/delete-queue.ts';
import type { ExplainedSetting, SettingName } from '../core/settings/global-settings.ts';
import type { QueueSettings } from '../core/settings/settings.ts';
import type { SettingsInput } from '../core/settings/settings-input.ts';
import { checkQueueName } from '../core/settings/settings-input.ts';
import type { SeriesPoint } from '../core/statistics/series.ts';
import type { DayStatistics } from '../core/statistics/statistics.ts';
import type { JobView } from '../wire/job-view.ts';
import { viewOf } from '../wire/job-view.ts';
import type { ScheduleView } from '../wire/schedule-view.ts';
import type { Handler } from './active-job.ts';
import type { AddedJob } from './added-job.ts';
import { addedJob } from './added-job.ts';
import type { Connection } from './connection.ts';
import { addWithFiles, type NewFiles } from './files/add-with-files.ts';
import { Schedules } from './schedules.ts';
import type { StandardSchema } from './standard-schema.ts';
import { validate } from './standard-schema.ts';
import type { Work, WorkOptions } from './work.ts';
import { startWork } from './work.ts';

/** Options of `longhaul.queue`. */
export interface QueueOptions<Data, Output = Data> {
  /**
   * Checks data on add, and again before the handler receives it: zod, valibot, arktype or any Standard Schema. The data
   * is stored as given; the handler gets the output of the schema.
   */
  readonly schema?: StandardSchema<Data, Output>;
}

/** Options of a job that is added. Each overrides the setting of its queue. */
export interface AddOptions extends StoredOptions {
  /**
   * Files for the job, by name: `{ 'film.mp4': '/path/film.mp4' }`. The content is a path, bytes or a stream. The job can
   * start once all are complete; if one cannot be stored, the job is not added.
   */
  attach?: NewFiles;
}

/** A query for a page of the jobs of this queue. */
export type QueueQuery = Partial<Omit<JobQuery, 'queue' | 'order'>>;

/** The options of `addAll`: for all jobs, or for each. */
type GivenOptions = AddOptions | undefined | readonly (AddOptions | undefined)[];

const PAGE = 50;
const MAX_ADD = 1_000;

/** A queue: adds jobs, works on them, and reads and changes its settings. */
export class Queue<Data = unknown, Result = unknown, Output = Data> {
  /** The name of the queue, or the address of a remote one. */
  readonly name: string;
  readonly #connection: Connection;
  readonly #schema: StandardSchema<Data, Output> | null;

  constructor(name: string, connection: Connection, options: QueueOptions<Data, Output>) {
    this.name = name;
    this.#connection = connection;
    this.#schema = options.schema ?? null;
  }

  /** Adds a job. */
  add(data: Data, options?: AddOptions): Promise<AddedJob<Result>> {
    if (this.#schema !== null || options?.attach !== undefined) return this.#addChecked(data, options);
    return this.#addNow(data, options);
  }

  async #addChecked(data: Data, options?: AddOptions): Promise<AddedJob<Result>> {
    await this.#check(data);
    return options?.attach === undefined ? this.#addNow(data, options) : this.#addWithFiles(data, options);
  }

  /** Not async: that would cost each job another promise, and more to compile. */
  #addNow(data: Data, options?: AddOptions): Promise<AddedJob<Result>> {
    try {
      return this.#connection.store.jobs.add([this.#toNewJob(data, options)]).then(this.#added);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  readonly #added = (answers: readonly AddResult[]): AddedJob<Result> => {
    const answer = answers[0];
    if (answer === undefined) throw new Error('the store left an added job unanswered');
    return addedJob(answer, this.#connection);
  };

  /** Adds many jobs at once, with options for all of them or computed for each. */
  async addAll(
    items: readonly Data[],
    options?: Omit<AddOptions, 'id'> | ((data: Data, index: number) => AddOptions),
  ): Promise<readonly AddedJob<Result>[]> {
    const given: GivenOptions =
      typeof options === 'function' ? items.map((data, index) => options(data, index)) : options;
    if (hasFiles(given)) return this.#addEach(items, given);
    const jobs = await this.#toNewJobs(items, given);
    const answers = [];
    for (let from = 0; from < jobs.length; from += MAX_ADD) {
      answers.push(...(await this.#connection.store.jobs.add(jobs.slice(from, from + MAX_ADD))));
    }
    return answers.map((answer) => addedJob<Result>(answer, this.#connection));
  }

  async #addWithFiles(data: Data, { attach = {}, ...options }: AddOptions): Promise<AddedJob<Result>> {
    const answer = await addWithFiles(this.#connection, this.#toNewJob(data, options), attach);
    return addedJob(answer, this.#connection);
  }

  async #addEach(items: readonly Data[], given: GivenOptions): Promise<readonly AddedJob<Result>[]> {
    const added: AddedJob<Result>[] = [];
    for (const [index, data] of items.entries()) added.push(await this.add(data, optionsAt(given, index)));
    return added;
  }

  /** Adds a job and waits for its result. */
  async run(data: Data, options: AddOptions & { signal?: AbortSignal } = {}): Promise<Result> {
    const { signal, ...rest } = options;
    const job = await this.add(data, rest);
    return job.finished(signal === undefined ? {} : { signal });
  }

  /** Creates a schedule for this queue, or changes the one of that name; see `schedules.set`. */
  async schedule(name: string, { data, ...input }: Omit<ScheduleInput<Data>, 'queue'>): Promise<ScheduleView> {
    if (data !== undefined) await this.#check(data);
    return new Schedules(this.#connection).set(name, { ...input, data, queue: this.name });
  }

  /**
   * Starts a worker for this queue in this process, until its `stop()` or the `close()` of the connection. A handler in a
   * module of its own (`new URL('./encode.js', import.meta.url)`) runs isolated, in processes or threads.
   */
  work(handler: Handler<Output, Result> | URL, options: WorkOptions = {}): Work {
    return startWork(this.#connection, { queues: [checkQueueName(this.name)], handler, options, schema: this.#schema });
  }

  /** Counts its jobs by state. */
  async count(): Promise<QueueCounts> {
    const [counts] = await this.#connection.store.jobs.count([this.name]);
    if (counts === undefined) throw new Error('the store did not count the queue');
    return counts;
  }

  /** Lists its jobs, the newest first, a page at a time. */
  async list(query: QueueQuery = {}): Promise<{ jobs: readonly JobView<Data, Result>[]; next: string | null }> {
    return this.#page({ limit: PAGE, ...query, queue: this.name, order: 'newest' });
  }

  /** Returns the jobs that would be claimed now, in that order. */
  async peek(limit = 10): Promise<readonly JobView<Data, Result>[]> {
    return (await this.#page({ queue: this.name, order: 'claim', limit })).jobs;
  }

  /** Lists the failure groups of its jobs; with `past`, also groups without a failed job left. */
  async failures(question: { past?: boolean } = {}): Promise<readonly FailureGroup[]> {
    return this.#connection.store.jobs.insight({ kind: 'failures', ...question, queue: this.name });
  }

  /** Returns statistics by UTC day, the oldest first; by tag or worker as well. */
  async statistics(question: Omit<StatisticsQuery, 'queue'> = {}): Promise<readonly DayStatistics[]> {
    return this.#connection.store.jobs.insight({ kind: 'statistics', ...question, queue: this.name });
  }

  /** Returns how many jobs ended in each minute of two hours or each hour of sixty days; without the empty ones. */
  async throughput(question: Omit<SeriesQuery, 'queue'>): Promise<readonly SeriesPoint[]> {
    return this.#connection.store.jobs.insight({ kind: 'series', ...question, queue: this.name });
  }

  /** Cancels every waiting, running or draft job of this queue with equal data. Returns one result for each. */
  async cancelEqual(data: Data): Promise<readonly CancelResult[]> {
    const wanted: unknown = JSON.parse(toJsonText('data', data));
    const answers: CancelResult[] = [];
    for (const state of ['waiting', 'running', 'draft'] as const) {
      for (let after: string | undefined; ; ) {
        const page = await this.#connection.store.jobs.list({
          queue: this.name,
          state,
          order: 'newest',
          limit: 500,
          ...(after && { after }),
        });
        const equal = page.jobs.filter((job) => sameJson(JSON.parse(job.data), wanted));
        answers.push(...(await this.#connection.store.jobs.cancel(equal.map(({ id }) => ({ id })))));
        if (page.next === null) break;
        after = page.next;
      }
    }
    return answers;
  }

  /** Returns its settings in effect. */
  async settings(): Promise<QueueSettings> {
    return this.#connection.settings.read(this.name);
  }

  /** Changes the named settings and leaves the others. Takes effect at once, everywhere. */
  async configure(settings: SettingsInput): Promise<QueueSettings> {
    return this.#connection.settings.change(this.name, settings);
  }

  /** Explains each setting: its meaning, its value in effect, and where that value was set. */
  async explain(): Promise<readonly ExplainedSetting[]> {
    return this.#connection.settings.explain(this.name);
  }

  /** Removes a setting of this queue, so that it is inherited again. */
  async unset(name: SettingName): Promise<QueueSettings> {
    return this.#connection.settings.unset(this.name, name);
  }

  /** Pauses the queue: it accepts jobs and starts none. */
  async pause(note: string | null = null): Promise<void> {
    await this.configure({ state: 'paused', note });
  }

  /** Starts jobs again after `pause` or `down`. */
  async resume(): Promise<void> {
    await this.configure({ state: 'up', note: null });
  }

  /** Takes the queue down: it starts no jobs and refuses new ones. */
  async down(note: string | null = null): Promise<void> {
    await this.configure({ state: 'down', note });
  }

  /**
   * Deletes this queue with its settings. It accepts no jobs until `configure` creates it again. Throws `refused` while a
   * job runs, or while there are jobs and `jobs` is not true.
   */
  async delete({ jobs = false }: { readonly jobs?: boolean } = {}): Promise<{ readonly jobs: number }> {
    const count = totalJobs(await this.count());
    if (count > 0 && !jobs)
      throw new LonghaulError('refused', `queue ${this.name} has ${count} jobs: { jobs: true } deletes them too`);
    const deleted = await deleteQueue(this.#connection.store, this.name);
    if (deleted.ok) return { jobs: deleted.jobs };
    throw new LonghaulError('refused', deleted.refusal.message, { refusal: deleted.refusal });
  }

  async #check(data: Data): Promise<void> {
    if (this.#schema !== null) await validate(`data for queue ${this.name}`, this.#schema, data);
  }

  /** Options that all jobs share are checked once. */
  async #toNewJobs(items: readonly Data[], given: GivenOptions): Promise<readonly NewJob[]> {
    const { newId } = this.#connection;
    const jobs: NewJob[] = [];
    let make: ReturnType<typeof newJobsWith> | undefined;
    for (const [index, data] of items.entries()) {
      if (this.#schema !== null) await this.#check(data);
      const basis = { queue: this.name, data: toJsonText('data', data), newId };
      if (make === undefined || isList(given)) make = newJobsWith(optionsAt(given, index));
      jobs.push(make(basis));
    }
    return jobs;
  }

  #toNewJob(data: Data, options: StoredOptions | undefined): NewJob {
    const job = { queue: this.name, data: toJsonText('data', data), newId: this.#connection.newId };
    return toNewJob(job, options);
  }

  async #page(query: JobQuery): Promise<{ jobs: readonly JobView<Data, Result>[]; next: string | null }> {
    const [page, settings] = await Promise.all([this.#connection.store.jobs.list(query), this.settings()]);
    const now = Date.now();
    return { jobs: page.jobs.map((job) => viewOf<Data, Result>(job, settings, now)), next: page.next };
  }
}

function optionsAt(given: GivenOptions, index: number): AddOptions | undefined {
  return isList(given) ? given[index] : given;
}

function hasFiles(given: GivenOptions): boolean {
  return isList(given) ? given.some((each) => each?.attach !== undefined) : given?.attach !== undefined;
}

/** `Array.isArray` does not know lists that are read-only. */
function isList(given: GivenOptions): given is readonly (AddOptions | undefined)[] {
  return Array.isArray(given);
}
