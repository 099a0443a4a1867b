/**
 * qless over a store that was opened with `clock: 'caller'`: `call()` is its final API, command by command; the methods are those
 * of its first document. No rule lives here: names, shapes and words are translated, and the core decides.
 */
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { dayOf } from '../../core/statistics/statistics.ts';
import { openConnection } from '../../library/connect.ts';
import type { Call, Command } from './arguments.ts';
import { jsonArgument, listArgument, own, said, secondsArgument, wrong } from './arguments.ts';
import { attemptCommands, beat, completeJob, heldJob, type Words } from './attempt-commands.ts';
import { type ConfigValue, configCommands, readConfig } from './config.ts';
import { type DocumentJob, type DocumentStats, documentJob } from './document-job.ts';
import { jobCommands } from './job-commands.ts';
import { putCommands, putJob } from './put-command.ts';
import { QlessEvents, type QlessListener } from './qless-events.ts';
import { findJob, jobsToJson, jobToJson } from './qless-job.ts';
import { peekJobs, popJobs, queueCommands } from './queue-commands.ts';
import { lookCommands } from './read-commands.ts';
import { recurCommands } from './recur-commands.ts';
import { dayOfQueue, documentHistogram, statsCommands } from './stats-command.ts';
import { storeAt } from './store-at.ts';
import { throttleCommands } from './throttle-commands.ts';
import { workerCommands } from './worker-commands.ts';

export const COMMANDS: Readonly<Record<string, Command>> = {
  ...lookCommands,
  ...configCommands,
  ...queueCommands,
  ...putCommands,
  ...attemptCommands,
  ...jobCommands,
  ...statsCommands,
  ...recurCommands,
  ...workerCommands,
  ...throttleCommands,
};

/** Options of `openQless`. */
export interface QlessOptions {
  /** Seconds; for the methods of the first document that are given no `now`. Default: this machine's clock. */
  readonly clock?: () => number;
}

const SECONDS_A_DAY = 86_400;
/** Days in the document, seconds in the final API. */
const IN_DAYS = 'jobs-history';
const DOCUMENT: Words = { command: 'Qless', notRunning: 'Job is not pending', another: 'Job given to another worker' };

/** qless over a store: the final API by `call`, the first document by methods. */
export class Qless {
  readonly #store: Store;
  readonly #events: QlessEvents;
  readonly #clock: () => number;
  #isRight: Promise<void> | null = null;

  constructor(store: Store, options: QlessOptions = {}) {
    this.#store = store;
    this.#events = new QlessEvents(store);
    this.#clock = options.clock ?? (() => Date.now() / 1_000);
  }

  /** A command of qless's final API. `now` is in seconds; the answer is plain JSON. */
  async call(command: string, now: number, ...args: unknown[]): Promise<unknown> {
    const run = own(COMMANDS, command);
    if (run === undefined) return wrong(`Unknown command ${command}`);
    return run(await this.#at(now), args);
  }

  /** Hears a channel, as one would in Redis: `put`, `popped` …, `log`, `w:<worker>`. Returns how to stop. */
  subscribe(channel: string, listener: QlessListener): () => void {
    return this.#events.on(channel, listener);
  }

  /** Stops listening. The store stays its owner's to close. */
  close(): void {
    this.#events.close();
  }

  // ── the first document ──

  /** Puts a job into a queue. Returns its id. */
  async put(
    ...[queue, id, data, now, priority, tags, delay]: [
      queue: string,
      id: string,
      data: string,
      now: number,
      priority?: number,
      tags?: string | readonly string[],
      delay?: number,
    ]
  ): Promise<string> {
    return putJob(await this.#at(now), {
      queue,
      id,
      data: jsonArgument(data, 'Put', 'data'),
      delayMs: secondsArgument(delay ?? 0, 'Put', 'delay'),
      ...(priority !== undefined && { priority }),
      ...(tags !== undefined && { tags: listArgument(tags, 'Put', 'tags') }),
    });
  }

  /** Returns a job, or null when it does not exist. */
  async get(id: string): Promise<DocumentJob | null> {
    const call = await this.#at(this.#clock());
    const job = await findJob(call, id);
    return job === null ? null : documentJob(await jobToJson(call, job));
  }

  /** Takes up to `count` jobs of a queue for a worker. */
  async pop(
    ...[queue, worker, count, now, expiration]: [
      queue: string,
      worker: string,
      count: number,
      now: number,
      expiration: number,
    ]
  ): Promise<readonly DocumentJob[]> {
    const call = await this.#at(now);
    const jobs = await popJobs(call, { queue, worker, count, leaseMs: leaseUntil(call, expiration) });
    return (await jobsToJson(call, jobs)).map(documentJob);
  }

  /** Returns the next jobs of a queue without taking them. */
  async peek(queue: string, count: number, now: number): Promise<readonly DocumentJob[]> {
    const call = await this.#at(now);
    return (await jobsToJson(call, await peekJobs(call, queue, count))).map(documentJob);
  }

  /** The new expiration, or false when the job was given to somebody else. */
  async heartbeat(
    ...[id, worker, expiration, data]: [id: string, worker: string, expiration: number, data?: string]
  ): Promise<number | false> {
    const call = await this.#at(this.#clock());
    const leaseMs = leaseUntil(call, expiration);
    const said = { leaseMs, ...(data !== undefined && { data: jsonArgument(data, 'Heartbeat', 'data') }) };
    return orFalse(async () => beat(call, await heldJob(call, id, worker, DOCUMENT), said, DOCUMENT));
  }

  /** The state it has now, or false when it is not pending or not this worker's. */
  async complete(
    ...[id, data, queue, delay, worker]: [id: string, data?: string, queue?: string, delay?: number, worker?: string]
  ): Promise<string | false> {
    const call = await this.#at(this.#clock());
    const given = {
      delayMs: secondsArgument(delay ?? 0, 'Complete', 'delay'),
      depends: [],
      ...(data !== undefined && { data: jsonArgument(data, 'Complete', 'data') }),
      ...(queue !== undefined && { next: queue }),
    };
    return orFalse(async () => completeJob(call, await heldJob(call, id, worker, DOCUMENT), given));
  }

  /** Fails a running job. Returns its id, or false when this worker does not hold it. */
  async fail(
    ...[id, type, message, now, worker]: [id: string, type: string, message: string, now: number, worker?: string]
  ): Promise<string | false> {
    return orFalse(async () => (await this.call('fail', now, id, worker, type, message)) as string);
  }

  /** How long the jobs of a day ran, or `wait`ed. `date` is any second of that day. */
  async stats(queue: string, date: number, of: 'run' | 'wait' = 'run'): Promise<DocumentStats> {
    const found = await dayOfQueue(await this.#at(this.#clock()), queue, dayOf(date * 1_000));
    const { count = 0, mean = 0, variance = 0, histogram = null } = found?.[of] ?? {};
    const times = { mean: mean / 1_000, variance: variance / 1e6 };
    return { total: count, ...times, histogram: documentHistogram(histogram) };
  }

  /** Without a value, the option is as if it had never been set. */
  async setConfig(option: string, value?: ConfigValue): Promise<void> {
    const stored = option === IN_DAYS && value !== undefined ? Number(value) * SECONDS_A_DAY : value;
    if (stored === undefined) await this.call('config.unset', this.#clock(), option);
    else await this.call('config.set', this.#clock(), option, stored);
  }

  /** Returns one option, or all of them. */
  async getConfig(option?: string): Promise<ConfigValue | null | Readonly<Record<string, ConfigValue>>> {
    const config = await readConfig(await this.#at(this.#clock()));
    const inDays = { ...config, [IN_DAYS]: Number(config[IN_DAYS]) / SECONDS_A_DAY };
    return option === undefined ? inDays : ((inDays as Record<string, ConfigValue>)[option] ?? null);
  }

  async #at(now: number): Promise<Call> {
    if (!Number.isFinite(now)) wrong(`the time of a call is a number of seconds, not ${said(now)}`);
    this.#isRight ??= mustHearCallers(this.#store);
    await this.#isRight;
    const nowMs = Math.round(now * 1_000);
    return { longhaul: openConnection(storeAt(this.#store, nowMs), null).longhaul, nowMs };
  }
}

/** Opens qless over a store with `clock: 'caller'`. Closing it does not close the store. */
export function openQless(store: Store, options: QlessOptions = {}): Qless {
  return new Qless(store, options);
}

function leaseUntil({ nowMs }: Call, expiration: number): number {
  const leaseMs = Math.round(expiration * 1_000) - nowMs;
  return leaseMs > 0 ? leaseMs : wrong('the expiration lies behind');
}

async function orFalse<Answer>(ask: () => Promise<Answer>): Promise<Answer | false> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof LonghaulError && error.code === 'refused') return false;
    throw error;
  }
}

/** A store that goes by its own clock would let leases of another time end at once. */
async function mustHearCallers({ records }: Store): Promise<void> {
  const then = { now: 1_000 };
  await records.put({ kind: 'qless', key: 'clock', value: '{}' }, then);
  const record = await records.get('qless', 'clock', then);
  if (record?.updatedAt !== then.now)
    throw new LonghaulError('bad-input', "qless needs a store that was opened with clock: 'caller'");
}
