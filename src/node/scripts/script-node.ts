/**
 * The node at work.
 *
 *     what is ours is found and its leases renewed ──▶ lanes start with it ──▶ the folder is watched
 *
 * Stopping it stops no script: leases are extended, and the next node of this home takes them up.
 */
import { readdirSync } from 'node:fs';
import type { RunningJob } from '../../core/job/job.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { Attachments } from '../../files/attachments/attachments.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import { putDeadline } from '../../runner/attempt/deadline.ts';
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
import type { NodeNews, NodeOptions } from '../open-node.ts';
import type { QueueDefinition } from '../queues/queue-folder.ts';
import { readQueueFolder } from '../queues/queue-folder.ts';
import { recordProblem } from '../queues/queue-problem.ts';
import { QueueRunners } from '../queues/queue-runners.ts';
import { recordQueues } from '../queues/record-queues.ts';
import { JobFiles } from '../retention/job-files.ts';
import { findOwn } from './adoption.ts';
import { AttemptRegistry, runningFolder } from './attempt-registry.ts';
import type { JobProcesses } from './job-processes.ts';
import { processesOf } from './job-processes.ts';
import { machineOffer } from './machine-capacity.ts';
import { RunningScripts } from './running-scripts.ts';
import type { ScriptHost } from './script-host.ts';
import { runScript } from './script-run.ts';

const LOOK_EVERY_MS = 2_000;
/** Only every so many of them is made while nothing waits for one. */
const CALM_LOOKS = 5;
/** A queue can grow to this while its node runs; beyond it, with the next start. */
const MOST_CONCURRENCY = 512;
/** What ending a tree may take after its grace: nobody gives the attempt up before that. */
const TIME_TO_KILL_MS = 15_000;

export interface ScriptNodeParts {
  readonly blobs: Blobs;
  readonly member: Membership;
}

export class ScriptNode {
  readonly blobs: Blobs;
  readonly attachments: Attachments;
  readonly files: JobFiles;
  readonly copies: Copies;
  /** Queues that a file made, as of the last look. */
  fileQueues: ReadonlySet<string> = new Set();
  readonly #options: NodeOptions;
  readonly #member: Membership;
  readonly #runner: Runner;
  readonly #marks: AttemptRegistry;
  readonly #settings: SettingsCache;
  readonly #lanes: QueueRunners;
  readonly #scripts: ScriptHost;
  readonly #watch: FolderWatch;
  readonly #offer: ReturnType<typeof machineOffer>;
  readonly #undo: (() => void)[] = [];
  #looking: Promise<void> = Promise.resolve();
  #recordQueues: readonly QueueDefinition[] = [];
  #isLookDue = false;
  #looks = 0;
  #isStopping = false;

  constructor(options: NodeOptions, { blobs, member }: ScriptNodeParts) {
    const { home, store, settings } = options;
    const onTrouble = (what: string, error: unknown): void => this.#tell({ type: 'trouble', what, error });
    this.#options = options;
    this.#member = member;
    this.blobs = blobs;
    this.attachments = new Attachments(store, blobs, store.isShared ? sharedFiles(member.others, blobs) : null);
    this.copies = new Copies({ ...options, others: member.others, attachments: this.attachments });
    this.#marks = new AttemptRegistry(runningFolder(home));
    this.#settings = new SettingsCache(store);
    this.#offer = machineOffer(settings.offers);
    this.#watch = new FolderWatch(home.queues, () => void this.look());
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
    this.#lanes = new QueueRunners({
      store,
      settings: this.#settings,
      drain: member.drain,
      scriptFolders: [home.queues, ...settings.scriptDirs],
      makeWorker: (lane) => this.#makeWorker(lane),
      onProblem: (queue, problem, notices) => this.#problem(queue, problem, notices),
    });
  }

  queues(): ReadonlyMap<string, string | null> {
    return this.#lanes.problems();
  }

  /** Each queue with how much of it is under way here. */
  load(): readonly NodeQueue[] {
    return this.#lanes.all().map(({ queue, problem, concurrency }) => {
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
    const own = await findOwn(this.#scripts);
    if (own.length > 0) this.#tell({ type: 'adopted', jobs: own.length });
    await this.#readRecordQueues();
    await this.#lanes.takeIn(await this.#definitions(), own);
    const upkeep = startMaintenance(this.#options.store, (error) => this.#scripts.onTrouble('maintenance', error));
    const timer = setInterval(() => this.#lookNowAndThen(), LOOK_EVERY_MS);
    this.#watch.start(0);
    const unsubscribe = this.#options.store.jobs.subscribe((events) => {
      if (events.some(({ type }) => type === 'queue' || type === 'gap')) this.#recordQueuesChanged();
    });
    this.files.start();
    this.#undo.push(
      unsubscribe,
      () => upkeep.stop(),
      () => clearInterval(timer),
      () => this.#watch.close(),
    );
  }

  /** One look after the other, and one for all that was asked for meanwhile. One that fails is told; the next comes soon. */
  look(): Promise<void> {
    if (this.#isLookDue) return this.#looking;
    this.#isLookDue = true;
    this.#looking = this.#looking
      .then(async () => {
        this.#isLookDue = false;
        if (!this.#isStopping) await this.#lanes.takeIn(await this.#definitions());
      })
      .catch((error: unknown) => this.#scripts.onTrouble('the folder of the queues could not be read', error));
    return this.#looking;
  }

  async stop(absenceMs: number): Promise<void> {
    this.#isStopping = true;
    for (const undo of this.#undo.splice(0)) undo();
    await this.#looking;
    await this.files.stop();
    await this.#lanes.leave(absenceMs);
    // After the leases were made longer: what is overdue too early is better than two copies.
    if (this.#options.store.isShared)
      for (const folder of this.#scripts.running.folders()) putDeadline(folder, absenceMs);
    await this.#runner.stop();
    this.#settings.close();
    await this.blobs.close();
  }

  /**
   * A change in the folder itself is told at once. What is elsewhere, in RQ's folders or behind a link, is not; and where
   * the system has no watch left, nothing is.
   */
  #lookNowAndThen(): void {
    this.#looks += 1;
    if (this.#watch.isBlind) return this.#watch.start(0);
    const isWaiting = [...this.queues().values()].some((problem) => problem !== null);
    if (isWaiting || this.#looks % CALM_LOOKS === 0 || this.#leadsElsewhere()) void this.look();
  }

  #leadsElsewhere(): boolean {
    try {
      return readdirSync(this.#options.home.queues, { withFileTypes: true }).some((entry) => !entry.isFile());
    } catch {
      return true;
    }
  }

  /** Queues from files, and those that stand in the records alone. */
  async #definitions(): Promise<readonly QueueDefinition[]> {
    const fromFiles = await readQueueFolder(this.#options.home);
    this.fileQueues = new Set(fromFiles.map(({ name }) => name));
    return [...fromFiles, ...this.#recordQueues.filter(({ name }) => !this.fileQueues.has(name))];
  }

  async #readRecordQueues(): Promise<boolean> {
    const { store, host } = this.#options;
    const before = JSON.stringify(this.#recordQueues);
    this.#recordQueues = await recordQueues(store.records, store.isShared ? host : null);
    return JSON.stringify(this.#recordQueues) !== before;
  }

  #recordQueuesChanged(): void {
    this.#readRecordQueues().then(
      (isNew) => (isNew ? this.look() : undefined),
      (error: unknown) => this.#scripts.onTrouble('the queues among the records could not be read', error),
    );
  }

  #makeWorker({ queue, concurrency, own }: { queue: string; concurrency: number; own: readonly RunningJob[] }): Worker {
    const { store, home, host, pid } = this.#options;
    return createWorker({
      store,
      queues: [queue],
      concurrency,
      mostConcurrency: Math.max(concurrency, MOST_CONCURRENCY),
      own,
      run: (job, context) => runScript(this.#scripts, job, context),
      settingsFor: (name) => withTimeToKill(this.#settings.at(name)),
      host,
      pid,
      journalPath: home.journal,
      storeIdentity: () => storeIdentity(store.records),
      saysStarted: true,
      ...this.#offer,
      random: Math.random,
      newId: this.#member.newId,
      onEvent: (event) => this.#heard(event),
    });
  }

  #heard(event: WorkerEvent): void {
    this.#tell({ type: 'worker', event });
    if (event.type === 'pause-asked') this.#scripts.running.pauseAsked(event.job, event.isAsked);
    if (event.type === 'ended') this.#removeMark(event.job);
  }

  #removeMark(job: RunningJob): void {
    try {
      this.#marks.remove(job);
    } catch (error) {
      this.#scripts.onTrouble('a mark could not be removed', error);
    }
  }

  #problem(queue: string, problem: string | null, notices: readonly string[]): void {
    const { store, host } = this.#options;
    this.#tell({ type: 'queue', queue, problem, notices });
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
      marks: this.#marks,
      attachments: this.attachments,
      hasQueue: (name) => this.#lanes.get(name) !== undefined,
      settingsFor: (queue) => this.#settings.at(queue),
      keepCopy: (job) => this.copies.offerAttempt(job),
      // Another node may have its home elsewhere, and the record of the queue names that one's.
      ownScript: (queue) => (store.isShared ? (this.#lanes.get(queue)?.ownScript ?? null) : null),
      secretsOf: (queue) => this.#lanes.get(queue)?.secrets ?? {},
      onScriptProblem: (queue, problem) => this.#lanes.get(queue)?.report(problem),
      onTrouble,
    };
  }

  #tell(news: NodeNews): void {
    this.#options.onNews?.(news);
  }
}

function withTimeToKill(settings: QueueSettings): QueueSettings {
  return { ...settings, graceMs: settings.graceMs + TIME_TO_KILL_MS };
}
