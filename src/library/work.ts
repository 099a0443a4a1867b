/** Starts workers in this process, whose runner is the user's handler: a function, or a module that is isolated. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Check } from '../core/input/check.ts';
import { checked, duration, integer, listOf, object, oneOf, show, text } from '../core/input/check.ts';
import type { Duration } from '../core/input/duration.ts';
import type { RunningJob } from '../core/job/job.ts';
import { queueName } from '../core/job/names.ts';
import { readResources } from '../core/limits/resources.ts';
import type { ResourcesInput } from '../core/settings/limit-input.ts';
import { units } from '../core/settings/limit-input.ts';
import { tracedRunner } from '../worker/attempt/traced-runner.ts';
import type { CapacityUsage } from '../worker/loop/capacity-pool.ts';
import { CapacityPool } from '../worker/loop/capacity-pool.ts';
import { startMaintenance } from '../worker/loop/maintenance.ts';
import type { RunningAttempt, StopOptions, WorkerOptions } from '../worker/loop/worker.ts';
import { createWorker } from '../worker/loop/worker.ts';
import type { WorkerEvent } from '../worker/loop/worker-event.ts';
import { storeIdentity } from '../worker/outcome/store-identity.ts';
import type { Handler } from './active-job.ts';
import type { Connection } from './connection.ts';
import { startFileSweeps } from './files/file-sweeps.ts';
import type { IsolateOptions } from './isolation/isolation-plan.ts';
import { isolateShape } from './isolation/isolation-plan.ts';
import type { StandardSchema } from './standard-schema.ts';
import type { WorkRunner } from './work-runner.ts';
import { createRunner } from './work-runner.ts';

/** Options of `work`. */
export interface WorkOptions extends IsolateOptions {
  /** How many jobs run at once. Default 1. */
  concurrency?: number;
  /** The length of a lease. Default: the queue's. */
  lease?: Duration;
  /** How long running jobs may continue after `stop()`. Default 30 s. */
  drain?: Duration;
  /**
   * How many handlers may ignore their signal beyond the grace and still run. At this many the worker claims nothing more
   * and shows why: event `draining`, `workers()`, web UI. Default 10.
   */
  maxAbandoned?: number;
  /** Kills this process when its event loop is blocked for this long. Default: never. */
  maxBlock?: Duration;
  /** While the store is unavailable: stop before the lease ends (default on Redis) or continue (default on SQLite). */
  onUnreachable?: 'stop' | 'continue';
  /** The prefix of the files for settlements that cannot be delivered. Default: in the data directory, if there is one. */
  journal?: string;
  /** Its capacity for jobs that need resources: `{ cpu: 4, gpu: 1 }`. Default: none, so it claims no job that needs any. */
  offers?: ResourcesInput;
  /** Receives the events of the worker, and the log lines of its handlers. */
  onEvent?: (event: WorkEvent) => void;
}

export type WorkEvent = WorkerEvent | { readonly type: 'log'; readonly job: RunningJob; readonly line: string };

/** A worker of this process, as `work` returns it. */
export interface Work extends AsyncDisposable {
  /** The id of the worker, as in `workers()`. */
  readonly id: string;
  /**
   * Resolves when the worker claims jobs, or was stopped before. While the store is unavailable or does not accept the
   * password, it waits (events `store-away`, `store-back`). It rejects when waiting cannot help: bad input, an
   * incompatible store.
   */
  readonly ready: Promise<void>;
  /** Lists the attempts that take its slots, abandoned ones included. */
  running(): readonly RunningAttempt[];
  /** Returns its slots and its capacity, and how much of them is in use. */
  usage(): WorkUsage;
  /** Stops claiming. Running jobs continue. */
  pause(): void;
  /** Claims again after `pause`. */
  resume(): void;
  /** Claims now: for tests that move the clock of the store. */
  wake(): void;
  /** Resolves when the worker has stopped. Running jobs get the drain; `force` releases them at once. */
  stop(options?: StopOptions): Promise<void>;
}

/** The slots and the capacity of a worker. */
export interface WorkUsage {
  /** The queues it works on. */
  readonly queues: readonly string[];
  /** How many jobs it runs at once. */
  readonly slots: number;
  /** How many slots are taken. */
  readonly used: number;
  /** Its capacity for jobs that need resources; null without any. */
  readonly capacity: CapacityUsage | null;
}

export interface WorkPlan<Data, Result> {
  readonly queues: readonly string[];
  /** A function, or the URL of a module whose default export is one. */
  readonly handler: Handler<Data, Result> | URL;
  readonly options: WorkOptions;
  readonly schema: StandardSchema<unknown, Data> | null;
}

const DRAIN_MS = 30_000;
const MAX_QUEUES = 1_000;

const shape = object({
  concurrency: integer(1, 10_000),
  lease: duration(100),
  drain: duration(),
  maxAbandoned: integer(1, 10_000),
  maxBlock: duration(100),
  onUnreachable: oneOf('stop', 'continue'),
  journal: text({ max: 4_096 }),
  offers: units,
  onEvent: (value) => value as (event: WorkEvent) => void,
  ...isolateShape,
});

const handler: Check<unknown> = (value, report, path) =>
  typeof value === 'function' || value instanceof URL
    ? value
    : report(path, `must be a function or the URL of a module, not ${show(value)}`);
const queues: Check<unknown> = (value, report, path) => {
  const names = listOf(queueName, MAX_QUEUES)(value, report, path);
  return names?.length === 0 ? report(path, 'must have at least one queue') : names;
};
const argumentsOfWork: Check<unknown> = (plan, report) => {
  const { queues: names, handler: given } = plan as Readonly<Record<string, unknown>>;
  queues(names, report, 'queues');
  handler(given, report, 'handler');
  return plan;
};

export function startWork<Data, Result>(connection: Connection, plan: WorkPlan<Data, Result>): Work {
  checked('work', plan, argumentsOfWork);
  const runner = createRunner(connection, plan, checked('work options', plan.options, shape));
  const options = workerOptions(connection, plan, runner);
  const worker = createWorker(options);
  const maintenance = startMaintenance(connection.store, (error) =>
    plan.options.onEvent?.({ type: 'trouble', what: 'maintenance', error }),
  );
  const sweeps = startFileSweeps(connection.files, (error) =>
    plan.options.onEvent?.({ type: 'trouble', what: 'the sweep of files', error }),
  );
  const leaveSchedules = connection.schedules.join((what, error) =>
    plan.options.onEvent?.({ type: 'trouble', what, error }),
  );
  let isStopped = false;
  // Nothing is claimed before the handler can run.
  const startWhenOpen = async (open: () => Promise<void>): Promise<void> => {
    await open().catch(async (error: unknown) => {
      await work.stop();
      throw error;
    });
    if (!isStopped) await worker.start();
  };
  const ready = runner.open === null ? worker.start() : startWhenOpen(runner.open);
  const work: Work = {
    get id() {
      return worker.id;
    },
    ready,
    running: () => worker.running(),
    usage: () => ({
      queues: plan.queues,
      slots: options.concurrency,
      used: worker.running().length,
      capacity: options.pool?.usage() ?? null,
    }),
    pause: () => worker.pause(),
    resume: () => worker.resume(),
    wake: () => worker.wake(),
    async stop(how) {
      isStopped = true;
      maintenance.stop();
      const stopped = worker.stop(how);
      if (how?.force === true) runner.kill();
      await Promise.all([leaveSchedules(), sweeps.stop(), stopped]);
      await runner.close();
      connection.works.delete(work);
    },
    [Symbol.asyncDispose]: () => work.stop(),
  };
  connection.works.add(work);
  return work;
}

function workerOptions<Data, Result>(
  connection: Connection,
  plan: WorkPlan<Data, Result>,
  { run, enforcesStop, settingsFor }: WorkRunner,
): WorkerOptions {
  const given = checked('work options', plan.options, shape);
  const { lease, maxBlock, maxAbandoned, onUnreachable, onEvent, offers } = given;
  const { store, home, settings, telemetry, newId } = connection;
  return {
    store,
    queues: plan.queues,
    concurrency: given.concurrency ?? 1,
    run: tracedRunner(run, telemetry),
    enforcesStop,
    endsWithProcess: true,
    settingsFor,
    prepare: () => settings.follow(plan.queues),
    waitsForStore: true,
    host: hostname(),
    pid: process.pid,
    drainMs: given.drain ?? DRAIN_MS,
    storeIdentity: () => storeIdentity(store.records),
    journalPath: given.journal ?? (home === null ? null : join(home, 'journal')),
    random: Math.random,
    newId,
    onEvent: (event) => {
      connection.metrics.record(event);
      onEvent?.(event);
    },
    ...(offers !== undefined && {
      pool: new CapacityPool(readResources(offers)),
      info: JSON.stringify({ offers }),
    }),
    ...(lease !== undefined && { leaseMs: lease }),
    ...(maxBlock !== undefined && { maxBlockMs: maxBlock }),
    ...(maxAbandoned !== undefined && { maxAbandoned }),
    ...(onUnreachable !== undefined && { onUnreachable }),
  };
}
