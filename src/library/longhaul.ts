// Long because each call of the API has a method and its description.
/** A connection to a store, and the calls for jobs of any queue. */
import { toJsonText } from '../core/input/json.ts';
import type { HistoryRow } from '../core/job/history.ts';
import { checkDestination, isAddress } from '../core/job/relay-request.ts';
import type { JobSearch } from '../core/job/search-jobs.ts';
import { searchJobs } from '../core/job/search-jobs.ts';
import type { Step } from '../core/job/step.ts';
import { track, trackedJobs, untrack } from '../core/job/tracked-jobs.ts';
import type { Prunable } from '../core/lifecycle/prunable.ts';
import type { ThrottleView } from '../core/limits/throttle-views.ts';
import { listThrottles, setThrottle, withWaitReasons } from '../core/limits/throttle-views.ts';
import type { SeriesQuery, StatisticsQuery, TagCount } from '../core/ports/insight.ts';
import type {
  Cancel,
  CancelResult,
  EndWorkerResult,
  EventListener,
  FailureGroup,
  JobChanges,
  JobQuery,
  MaintenanceResult,
  Move,
  NotifyResult,
  QueueCounts,
  Requeue,
  JobPage as StoredPage,
  TargetResult,
  Unsubscribe,
  WorkerRecord,
} from '../core/ports/job-store.ts';
import type { Refused } from '../core/ports/refusal.ts';
import type { Store } from '../core/ports/store.ts';
import { deletedQueues, totalJobs } from '../core/settings/delete-queue.ts';
import type { ExplainedSetting, SettingName } from '../core/settings/global-settings.ts';
import type { ThrottleInput } from '../core/settings/limit-input.ts';
import type { QueueSettings } from '../core/settings/settings.ts';
import { DEFAULT_SETTINGS, GLOBAL_SETTINGS_KEY } from '../core/settings/settings.ts';
import type { SettingsInput } from '../core/settings/settings-input.ts';
import { checkQueueName } from '../core/settings/settings-input.ts';
import type { SeriesPoint } from '../core/statistics/series.ts';
import type { DayStatistics } from '../core/statistics/statistics.ts';
import type { QueueStorage } from '../core/statistics/storage.ts';
import type { JobView } from '../wire/job-view.ts';
import { viewOf } from '../wire/job-view.ts';
import type { Handler } from './active-job.ts';
import { finished } from './added-job.ts';
import type { Connection } from './connection.ts';
import { type DraftFiles, draftFiles } from './files/job-files.ts';
import { followTracked } from './follow-tracked.ts';
import { Outbox, type OutboxOptions } from './outbox/outbox.ts';
import type { OutboxAdapter } from './outbox/outbox-adapter.ts';
import type { QueueOptions } from './queue.ts';
import { Queue } from './queue.ts';
import type { LogsOptions } from './read-log.ts';
import { readLog } from './read-log.ts';
import { Schedules } from './schedules.ts';
import { checkName } from './steps/step-options.ts';
import type { Work, WorkOptions } from './work.ts';
import { startWork } from './work.ts';

export interface JobPage {
  readonly jobs: readonly JobView[];
  readonly next: string | null;
}

const PAGE = 50;
const MAINTENANCE_LIMIT = 1_000;

/** A connection to a store: queues, workers, schedules, and calls for jobs of any queue. */
export class Longhaul implements AsyncDisposable {
  readonly #connection: Connection;
  #closing: Promise<void> | null = null;
  /** Rules that create jobs at their run times. */
  readonly schedules: Schedules;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.schedules = new Schedules(connection);
  }

  /** The store itself, for calls that the library does not offer. */
  get store(): Store {
    return this.#connection.store;
  }

  /** Returns a queue by name, or by address (`http://host:3333/q/mail`): the queue `relay` forwards jobs added to it. */
  queue<Data = unknown, Result = unknown, Output = Data>(
    name: string,
    options: QueueOptions<Data, Output> = {},
  ): Queue<Data, Result, Output> {
    const checked = isAddress(name) ? checkDestination(name) : checkQueueName(name);
    return new Queue<Data, Result, Output>(checked, this.#connection, options);
  }

  /** Starts one worker for several queues: jobs of the first are claimed before jobs of the second. */
  work<Data = unknown, Result = unknown>(
    queues: readonly string[],
    handler: Handler<Data, Result> | URL,
    options: WorkOptions = {},
  ): Work {
    return startWork(this.#connection, { queues, handler, options, schema: null });
  }

  /**
   * Returns an outbox in a database of the user: `add` writes jobs inside its transactions, and the relay (`start`) moves
   * them into this store.
   */
  outbox<Tx, Written extends void | Promise<void>>(
    adapter: OutboxAdapter<Tx, Written>,
    options: OutboxOptions = {},
  ): Outbox<Tx, Written> {
    const outbox = new Outbox(this.#connection, adapter, options);
    this.#connection.outboxes.add(outbox);
    return outbox;
  }

  /** Returns a job, or null when it does not exist. */
  async find<Data = unknown, Result = unknown>(id: string): Promise<JobView<Data, Result> | null> {
    const [job] = await this.store.jobs.find([id]);
    if (job === null || job === undefined) return null;
    const settings = await this.#connection.settings.read(job.queue);
    const view = viewOf<Data, Result>(job, settings, Date.now());
    return (await withWaitReasons(this.store.jobs, [view], () => settings))[0] ?? view;
  }

  /** Returns the history of a job, the oldest row first. */
  async history(id: string): Promise<readonly HistoryRow[]> {
    return this.store.jobs.history(id);
  }

  /** Returns the steps of a job, in the order in which they were first kept. */
  async steps(id: string): Promise<readonly Step[]> {
    return this.store.jobs.steps(id);
  }

  /**
   * Sends an event to a job. A job that waits for it resumes; otherwise it is kept for a later wait. The first event of a
   * name counts until the handler has read it.
   */
  async notify(id: string, name: string, data: unknown = null): Promise<NotifyResult> {
    const event = { id, name: checkName('notify', name), data: toJsonText('data', data, { dates: 'text' }) };
    const [answer] = await this.store.jobs.notify([event]);
    return answer as NotifyResult;
  }

  /**
   * Reads the log of the latest attempt of a job, or of another one, in parts; with `follow` until the attempt is over. A
   * job without output yields nothing.
   */
  logs(id: string, options: LogsOptions = {}): AsyncGenerator<string> {
    return readLog(this.#connection, id, options);
  }

  /** Resolves to the result of a job that was added elsewhere or earlier. */
  async finished<Result = unknown>(id: string, options: { signal?: AbortSignal } = {}): Promise<Result> {
    return finished<Result>(this.#connection, id, options.signal);
  }

  /** Returns the files of a job. `attach` adds a file to a draft, before its `commit`. */
  files(id: string): DraftFiles {
    return draftFiles(this.#connection.files, id);
  }

  /** Lists jobs, the newest first, a page at a time. */
  async list(query: Partial<Omit<JobQuery, 'order'>> = {}): Promise<JobPage> {
    return this.#views(await this.store.jobs.list({ limit: PAGE, ...query, order: 'newest' }));
  }

  async #views(page: StoredPage): Promise<JobPage> {
    const queues = [...new Set(page.jobs.map(({ queue }) => queue))];
    const settings = new Map(
      await Promise.all(queues.map(async (queue) => [queue, await this.#connection.settings.read(queue)] as const)),
    );
    const now = Date.now();
    const settingsOf = (queue: string) => settings.get(queue) ?? DEFAULT_SETTINGS;
    const views = page.jobs.map((job) => viewOf(job, settingsOf(job.queue), now));
    return { jobs: await withWaitReasons(this.store.jobs, views, settingsOf), next: page.next };
  }

  /** Lists the queues with the number of their jobs by state. */
  async queues(): Promise<readonly QueueCounts[]> {
    const [counts, deleted] = await Promise.all([this.store.jobs.count(), deletedQueues(this.store)]);
    return counts.filter((each) => totalJobs(each) > 0 || !deleted.has(each.queue));
  }

  /** Returns the settings of a queue that sets no value of its own. */
  async settings(): Promise<QueueSettings> {
    return this.#connection.settings.read(GLOBAL_SETTINGS_KEY);
  }

  /** Changes the defaults for queues that do not set a value of their own. Takes effect at once, everywhere. */
  async configure(settings: SettingsInput): Promise<QueueSettings> {
    return this.#connection.settings.change(GLOBAL_SETTINGS_KEY, settings);
  }

  /** Removes a setting for all queues, so that its default applies again. */
  async unset(name: SettingName): Promise<QueueSettings> {
    return this.#connection.settings.unset(GLOBAL_SETTINGS_KEY, name);
  }

  /** Explains each setting: its meaning, the value for queues without their own, and where that value was set. */
  async explain(): Promise<readonly ExplainedSetting[]> {
    return this.#connection.settings.explain(GLOBAL_SETTINGS_KEY);
  }

  /** Lists the throttles that have a maximum or are in use, with the holders of their slots and the number of waiting jobs. */
  async throttles(): Promise<readonly ThrottleView[]> {
    return listThrottles(this.store);
  }

  /**
   * Sets the limits of a throttle: how many jobs may hold a slot at once, as a number or `max`, and how much may start
   * in a period, `rate`, for each key `by` data fields, counted by the data field `cost`. Null removes the throttle.
   */
  async setThrottle(name: string, limits: number | ThrottleInput | null): Promise<void> {
    await setThrottle(this.store, name, limits);
  }

  /** Lists the failure groups; with `past`, also groups without a failed job left. */
  async failures(question: { past?: boolean } = {}): Promise<readonly FailureGroup[]> {
    return this.store.jobs.insight({ kind: 'failures', ...question });
  }

  /** Returns statistics by queue and UTC day, or by tag or worker as well; the oldest day first. */
  async statistics(question: StatisticsQuery = {}): Promise<readonly DayStatistics[]> {
    return this.store.jobs.insight({ kind: 'statistics', ...question });
  }

  /** Returns how many jobs ended in each minute of two hours or each hour of sixty days; without the empty ones. */
  async throughput(question: SeriesQuery): Promise<readonly SeriesPoint[]> {
    return this.store.jobs.insight({ kind: 'series', ...question });
  }

  /** Returns what retention would delete now. */
  async prunable(queue?: string): Promise<readonly Prunable[]> {
    return this.store.jobs.insight({ kind: 'prunable', ...(queue !== undefined && { queue }) });
  }

  /** Returns the storage that the ended jobs of each queue take. */
  async storage(queue?: string): Promise<readonly QueueStorage[]> {
    return this.store.jobs.insight({ kind: 'storage', ...(queue !== undefined && { queue }) });
  }

  /** Lists the most frequent tags. */
  async tags(limit = PAGE): Promise<readonly TagCount[]> {
    return this.store.jobs.insight({ kind: 'tags', limit });
  }

  /** Finds jobs by the start of an id, a tag, a name, or a field of the data that their queue declares as searchable. */
  async search(words: string, page: Partial<Omit<JobSearch, 'words'>> = {}): Promise<JobPage> {
    const fieldsOf = async (queue: string): Promise<readonly string[]> =>
      (await this.#connection.settings.read(queue)).search;
    return this.#views(await searchJobs(this.store.jobs, { limit: PAGE, ...page, words }, fieldsOf));
  }

  /** Marks a job as tracked. */
  async track(id: string): Promise<{ readonly ok: true } | Refused> {
    return track(this.store, id);
  }

  /** Removes the mark that `track` set. */
  async untrack(id: string): Promise<{ readonly ok: true } | Refused> {
    return untrack(this.store, id);
  }

  /** Lists the tracked jobs, the latest mark first; `job` is null for one that was deleted. */
  async tracked(): Promise<readonly { id: string; trackedAt: number; job: JobView | null }[]> {
    const marks = await trackedJobs(this.store);
    const { jobs } = await this.#views({ jobs: marks.flatMap(({ job }) => job ?? []), next: null });
    const byId = new Map(jobs.map((job) => [job.id, job]));
    return marks.map(({ id, trackedAt }) => ({ id, trackedAt, job: byId.get(id) ?? null }));
  }

  /**
   * Cancels a job. A running job is asked to stop; the answer distinguishes asked from cancelled. A job that others wait
   * for is refused, unless `dependents` defines what happens to them.
   */
  async cancel(id: string, how: Omit<Cancel, 'id'> = {}): Promise<CancelResult> {
    return only(await this.store.jobs.cancel([{ ...how, id }]));
  }

  /** Returns an ended job to its queue, to run again; also a running job that is held after a lost lease. */
  async requeue(id: string, how: Omit<Requeue, 'id'> = {}): Promise<TargetResult> {
    return only(await this.store.jobs.requeue([{ ...how, id }]));
  }

  /** Moves a job to another queue. */
  async move(id: string, queue: string, how: Omit<Move, 'id' | 'queue'> = {}): Promise<TargetResult> {
    return only(await this.store.jobs.move([{ ...how, id, queue: checkQueueName(queue) }]));
  }

  /** Changes the data, name, priority, tags, run time or dependencies of a job. */
  async change(id: string, changes: Omit<JobChanges, 'id'>): Promise<TargetResult> {
    return only(await this.store.jobs.change([{ ...changes, id }]));
  }

  /** Commits a draft, so that it can be claimed. */
  async commit(id: string): Promise<TargetResult> {
    return (await this.#connection.files.unfinished(id)) ?? only(await this.store.jobs.commit([id]));
  }

  /** Deletes a job that does not run. */
  async delete(id: string): Promise<TargetResult> {
    return only(await this.store.jobs.delete([id]));
  }

  /** Lists the registered workers. */
  async workers(): Promise<readonly WorkerRecord[]> {
    return this.store.jobs.workers();
  }

  /**
   * Returns metrics in Prometheus format: of the store, and of the workers of this connection, counted since the first
   * call. A node serves the same and more at `/metrics`.
   */
  async metrics(): Promise<string> {
    return this.#connection.metrics.text();
  }

  /** Declares a worker dead: its jobs return to the front of their queues at once. */
  async failWorker(id: string): Promise<EndWorkerResult> {
    return this.store.jobs.endWorker({ id, kind: 'fail' });
  }

  /** Runs one step of the maintenance that workers do periodically: lost leases, old drafts, retention. */
  async maintain(limit = MAINTENANCE_LIMIT): Promise<MaintenanceResult> {
    return this.store.jobs.maintain({ limit });
  }

  /** Subscribes to every change in the store, by any process. */
  subscribe(listener: EventListener): Unsubscribe {
    return this.store.jobs.subscribe(listener);
  }

  /** Subscribes to every change of tracked jobs, by any process, and to the marks (`tracked`, `untracked`). */
  async followTracked(listener: EventListener): Promise<Unsubscribe> {
    return followTracked(this.store, listener);
  }

  /** Stops the workers (handlers get their drain) and relays of this connection, then closes the store. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { works, outboxes, endWaiter, settings, files, metrics, store } = this.#connection;
    await Promise.all([...[...works].map((work) => work.stop()), ...[...outboxes].map((outbox) => outbox.close())]);
    endWaiter.close();
    metrics.stop();
    settings.close();
    await files.close();
    await store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function only<T>(answers: readonly T[]): T {
  const [answer] = answers;
  if (answer === undefined) throw new Error('the store left an item of the call unanswered');
  return answer;
}
