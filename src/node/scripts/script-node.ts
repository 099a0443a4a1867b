/**
 * Runs the scripts of a node.
 *
 *     own attempts are found, their leases renewed ──▶ queue runners start with them ──▶ `queues/` is watched
 *
 * A stop leaves scripts running: leases are extended, and the next node of this data directory adopts them.
 */
import { readdirSync } from 'node:fs';
import type { RunningJob } from '../../core/job/job.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { Attachments } from '../../files/attachments/attachments.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import { writeDeadline } from '../../runner/attempt/deadline.ts';
import { FolderWatch } from '../../runner/attempt/folder-watch.ts';
import type { Runner } from '../../runner/open-runner.ts';
import { openRunner } from '../../runner/open-runner.ts';
import type { RunnerHealth } from '../../runner/process/runner-link.ts';
import type { NodeQueue } from '../../wire/node-view.ts';
import { startMaintenance } from '../../worker/loop/maintenance.ts';
import { SettingsCache } from '../../worker/loop/settings-cache.ts';
import type { Worker } from '../../worker/loop/worker.ts';
import { createWorker } from '../../worker/loop/worker.ts';
import type { WorkerEvent } from '../../worker/loop/worker-event.ts';
import { storeIdentity } from '../../worker/outcome/store-identity.ts';
import { Copies } from '../cluster/copies.ts';
import { sharedFiles } from '../cluster/file-fetcher.ts';
import type { Membership } from '../cluster/membership.ts';
import { scriptFolders } from '../home.ts';
import type { NodeEvent, NodeOptions } from '../open-node.ts';
import type { QueueDefinition } from '../queues/queue-folder.ts';
import { readQueueFolder } from '../queues/queue-folder.ts';
import { recordProblem } from '../queues/queue-problem.ts';
import { QueueRunners } from '../queues/queue-runners.ts';
import { recordQueues } from '../queues/record-queues.ts';
import { scriptPath } from '../queues/rq-queue.ts';
import { JobFiles } from '../retention/job-files.ts';
import { findOwnAttempts } from './adoption.ts';
import { AttemptRegistry, runningFolder } from './attempt-registry.ts';
import type { JobProcesses } from './job-processes.ts';
import { processesOf } from './job-processes.ts';
import { machineCapacity } from './machine-capacity.ts';
import { RunningScripts } from './running-scripts.ts';
import type { ScriptHost } from './script-host.ts';
import { runScript } from './script-run.ts';

const SCAN_INTERVAL_MS = 2_000;
/** While no queue waits for its file, only every n-th scan is made. */
const SCANS_WHEN_IDLE = 5;
/** Limit of a queue's concurrency while the node runs; a higher value takes effect at the next start. */
const MAX_CONCURRENCY = 512;
/** Time to kill a process tree after the grace period, during which the worker keeps the attempt. */
const KILL_TIME_MS = 15_000;

export interface ScriptNodeParts {
  readonly blobs: Blobs;
  readonly member: Membership;
}

export class ScriptNode {
  readonly blobs: Blobs;
  readonly attachments: Attachments;
  readonly files: JobFiles;
  readonly copies: Copies;
  /** Queues that are defined by files, as of the last scan. */
  fileQueues: ReadonlySet<string> = new Set();
  readonly #options: NodeOptions;
  readonly #member: Membership;
  readonly #runner: Runner;
  readonly #registry: AttemptRegistry;
  readonly #settings: SettingsCache;
  readonly #queueRunners: QueueRunners;
  readonly #scripts: ScriptHost;
  readonly #watch: FolderWatch;
  readonly #capacity: ReturnType<typeof machineCapacity>;
  readonly #undo: (() => void)[] = [];
  #scanning: Promise<void> = Promise.resolve();
  #recordQueues: readonly QueueDefinition[] = [];
  #isScanDue = false;
  #scans = 0;
  #isStopping = false;

  constructor(options: NodeOptions, { blobs, member }: ScriptNodeParts) {
    const { home, store, settings } = options;
    const onTrouble = (what: string, error: unknown): void => this.#emit({ type: 'trouble', what, error });
    this.#options = options;
    this.#member = member;
    this.blobs = blobs;
    this.attachments = new Attachments(store, blobs, store.isShared ? sharedFiles(member.others, blobs) : null);
    this.copies = new Copies({ ...options, others: member.others, attachments: this.attachments });
    this.#registry = new AttemptRegistry(runningFolder(home));
    this.#settings = new SettingsCache(store);
    this.#capacity = machineCapacity(settings.offers);
    this.#watch = new FolderWatch(home.queues, () => void this.scanQueues());
    this.#runner = openRunner({ onTrouble });
    this.files = new JobFiles({
      home,
      store,
      blobs,
      attachments: this.attachments,
      settings: this.#settings,
      onTrouble,
    });
    this.#scripts = this.#scriptHost(new RunningScripts(onTrouble), onTrouble);
    this.#queueRunners = new QueueRunners({
      store,
      settings: this.#settings,
      drain: member.drain,
      scriptFolders: scriptFolders(home, settings.scriptDirs),
      scriptPath: (given) => scriptPath(home, given),
      makeWorker: (runner) => this.#makeWorker(runner),
      onProblem: (queue, problem, notices) => this.#problem(queue, problem, notices),
    });
  }

  queues(): ReadonlyMap<string, string | null> {
    return this.#queueRunners.problems();
  }

  /** Returns each queue with its slots and running attempts. */
  load(): readonly NodeQueue[] {
    return this.#queueRunners.all().map(({ queue, problem, concurrency }) => {
      return { queue, problem, slots: concurrency, running: this.#scripts.running.count(queue) };
    });
  }

  runnerHealth(): RunnerHealth {
    return this.#runner.health();
  }

  processes(job: string): Promise<JobProcesses | null> {
    return processesOf(this.#scripts, job);
  }

  async start(): Promise<void> {
    const own = await findOwnAttempts(this.#scripts);
    if (own.length > 0) this.#emit({ type: 'adopted', jobs: own.length });
    await this.#readRecordQueues();
    await this.#queueRunners.reconcile(await this.#definitions(), own);
    const maintenance = startMaintenance(this.#options.store, (error) => this.#scripts.onTrouble('maintenance', error));
    const timer = setInterval(() => this.#scanPeriodically(), SCAN_INTERVAL_MS);
    this.#watch.start(0);
    const unsubscribe = this.#options.store.jobs.subscribe((events) => {
      if (events.some(({ type }) => type === 'queue' || type === 'gap')) this.#recordQueuesChanged();
    });
    this.files.start();
    this.#undo.push(
      unsubscribe,
      () => maintenance.stop(),
      () => clearInterval(timer),
      () => this.#watch.close(),
    );
  }

  /**
   * Runs scans one after the other; requests made meanwhile share one scan. A failure is reported, and the next scan
   * follows soon.
   */
  scanQueues(): Promise<void> {
    if (this.#isScanDue) return this.#scanning;
    this.#isScanDue = true;
    this.#scanning = this.#scanning
      .then(async () => {
        this.#isScanDue = false;
        if (!this.#isStopping) await this.#queueRunners.reconcile(await this.#definitions());
      })
      .catch((error: unknown) => this.#scripts.onTrouble('the queues directory could not be read', error));
    return this.#scanning;
  }

  async stop(absenceMs: number): Promise<void> {
    this.#isStopping = true;
    for (const undo of this.#undo.splice(0)) undo();
    await this.#scanning;
    await this.files.stop();
    await this.#queueRunners.leave(absenceMs);
    // After the leases are extended: a deadline that passes too early is better than two copies.
    if (this.#options.store.isShared)
      for (const folder of this.#scripts.running.folders()) writeDeadline(folder, absenceMs);
    await this.#runner.stop();
    this.#settings.close();
    await this.blobs.close();
  }

  /**
   * A change in the directory itself raises an event. A change elsewhere, in RQ's directories or behind a link, does
   * not, and neither does any change when the system has no watches left.
   */
  #scanPeriodically(): void {
    this.#scans += 1;
    if (this.#watch.isBlind) return this.#watch.start(0);
    const isWaiting = [...this.queues().values()].some((problem) => problem !== null);
    if (isWaiting || this.#scans % SCANS_WHEN_IDLE === 0 || this.#hasNonFiles()) void this.scanQueues();
  }

  #hasNonFiles(): boolean {
    try {
      return readdirSync(this.#options.home.queues, { withFileTypes: true }).some((entry) => !entry.isFile());
    } catch {
      return true;
    }
  }

  /** Returns the queues from files, and those from records. */
  async #definitions(): Promise<readonly QueueDefinition[]> {
    const fromFiles = await readQueueFolder(this.#options.home);
    this.fileQueues = new Set(fromFiles.map(({ name }) => name));
    return [...fromFiles, ...this.#recordQueues.filter(({ name }) => !this.fileQueues.has(name))];
  }

  async #readRecordQueues(): Promise<boolean> {
    const { store, host, home } = this.#options;
    const before = JSON.stringify(this.#recordQueues);
    this.#recordQueues = await recordQueues(store.records, { home, host: store.isShared ? host : null });
    return JSON.stringify(this.#recordQueues) !== before;
  }

  #recordQueuesChanged(): void {
    this.#readRecordQueues().then(
      (isNew) => (isNew ? this.scanQueues() : undefined),
      (error: unknown) => this.#scripts.onTrouble('the queue records could not be read', error),
    );
  }

  #makeWorker({ queue, concurrency, own }: { queue: string; concurrency: number; own: readonly RunningJob[] }): Worker {
    const { store, home, host, pid } = this.#options;
    return createWorker({
      store,
      queues: [queue],
      concurrency,
      maxConcurrency: Math.max(concurrency, MAX_CONCURRENCY),
      own,
      run: (job, context) => runScript(this.#scripts, job, context),
      settingsFor: (name) => withKillTime(this.#settings.at(name)),
      host,
      pid,
      journalPath: home.journal,
      storeIdentity: () => storeIdentity(store.records),
      reportsStart: true,
      enforcesStop: true,
      ...this.#capacity,
      random: Math.random,
      newId: this.#member.newId,
      onEvent: (event) => this.#onWorkerEvent(event),
    });
  }

  #onWorkerEvent(event: WorkerEvent): void {
    this.#emit({ type: 'worker', event });
    if (event.type === 'pause-asked') this.#scripts.running.requestPause(event.job, event.isAsked);
    if (event.type === 'ended') this.#unregister(event.job);
  }

  #unregister(job: RunningJob): void {
    try {
      this.#registry.remove({ ...job, token: job.lease.token });
    } catch (error) {
      this.#scripts.onTrouble('an entry of the attempt registry could not be removed', error);
    }
  }

  #problem(queue: string, problem: string | null, notices: readonly string[]): void {
    const { store, host } = this.#options;
    this.#emit({ type: 'queue', queue, problem, notices });
    recordProblem(store, { queue, problem, host }).catch((error: unknown) =>
      this.#scripts.onTrouble(`the problem of queue ${queue} could not be recorded`, error),
    );
  }

  #scriptHost(running: RunningScripts, onTrouble: ScriptHost['onTrouble']): ScriptHost {
    const { store, home, settings, version, inherited } = this.#options;
    return {
      store,
      home,
      version,
      inherited,
      running,
      node: settings,
      runner: this.#runner,
      blobs: this.blobs,
      registry: this.#registry,
      attachments: this.attachments,
      hasQueue: (name) => this.#queueRunners.get(name) !== undefined,
      settingsFor: (queue) => this.#settings.at(queue),
      keepCopy: (job) => this.copies.offerAttempt(job),
      // The record may name the script of another node with a different data directory.
      ownScript: (queue) => (store.isShared ? (this.#queueRunners.get(queue)?.ownScript ?? null) : null),
      secretsOf: (queue) => this.#queueRunners.get(queue)?.secrets ?? {},
      onScriptProblem: (queue, problem) => this.#queueRunners.get(queue)?.report(problem),
      onTrouble,
    };
  }

  #emit(event: NodeEvent): void {
    this.#options.onEvent?.(event);
  }
}

function withKillTime(settings: QueueSettings): QueueSettings {
  return { ...settings, graceMs: settings.graceMs + KILL_TIME_MS };
}
