/**
 * qless over a store that was opened with `clock: 'caller'`: `call()` is its final API, command by command; the methods
 * are those of its first document. No rule of the job's life is here: names, shapes and texts are translated, and the
 * core decides.
 */
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { openConnection } from '../../library/connect.ts';
import type { Call, Dialect, Session } from './arguments.ts';
import {
  jsonArgument,
  listArgument,
  numberArgument,
  own,
  queueArgument,
  secondsArgument,
  textArgument,
  timeArgument,
  wrong,
} from './arguments.ts';
import { beat, completeJob, failJob, failure } from './commands/attempt-commands.ts';
import { putJob } from './commands/put-command.ts';
import { type Commands, QLESS_COMMANDS } from './commands/qless-commands.ts';
import { peekJobs, popJobs } from './commands/queue-commands.ts';
import { reqlessCommands } from './commands/reqless-commands.ts';
import { dayArgument, dayOfQueue, documentHistogram } from './commands/stats-command.ts';
import { type ConfigValue, readConfig } from './config.ts';
import { type DocumentJob, type DocumentStats, documentJob } from './document-job.ts';
import { DOCUMENT, ended, leaseUntil, lockedJob, NO_RETRY_LIMIT, rememberTokens } from './document-locks.ts';
import { QlessEvents, type QlessListener } from './qless-events.ts';
import { findJob, jobsToJson, jobToJson } from './qless-job.ts';
import { finishReplacements } from './replace-job.ts';
import { storeAt } from './store-at.ts';

export const COMMANDS: Commands = { ...reqlessCommands(), ...QLESS_COMMANDS };

/** Options of `openQless`. */
export interface QlessOptions {
  /** Seconds; for the methods of the first document that are given no `now`. Default: this machine's clock. */
  readonly clock?: () => number;
}

/** Seconds. Clients send numbers as texts too. */
export type Seconds = number | string;

const SECONDS_A_DAY = 86_400;
/** Days in the document, seconds in the final API. */
const IN_DAYS = 'jobs-history';

/** qless over a store: the final API by `call`, the first document by methods. */
export class Qless {
  readonly #store: Store;
  readonly #events: QlessEvents;
  readonly #clock: () => number;
  readonly #session: Session;
  #isReady: Promise<void> | null = null;

  constructor(store: Store, options: QlessOptions = {}) {
    this.#store = store;
    this.#events = new QlessEvents(store);
    this.#clock = options.clock ?? (() => Date.now() / 1_000);
    const publish = (channel: string, message: string): void => this.#events.publish(channel, message);
    this.#session = { tokens: new Map(), maintenance: { lastAt: 0, completions: 0 }, lastSeen: null, publish };
  }

  /**
   * Runs a command of qless's final API, or of reqless under its dotted name. `now` is in seconds; the answer is plain
   * JSON.
   */
  async call(command: string, now: Seconds, ...args: unknown[]): Promise<unknown> {
    const run = own(COMMANDS, command);
    if (run === undefined) return wrong(`Unknown command ${command}`);
    const dialect = Object.hasOwn(QLESS_COMMANDS, command) ? 'qless' : 'reqless';
    return run(await this.#at(now, dialect), args);
  }

  /**
   * Subscribes to a channel: `put`, `popped` …, `log`, `w:<worker>`, or a pattern such as `*` or `w:*`. Returns a
   * function that ends the subscription.
   */
  subscribe(channel: string, listener: QlessListener): () => void {
    return this.#events.on(channel, listener);
  }

  /** Stops listening. It does not close the store. */
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
      now: Seconds,
      priority?: number | string,
      tags?: string | readonly string[],
      delay?: Seconds,
    ]
  ): Promise<string> {
    return putJob(await this.#at(now), {
      queue,
      id,
      by: '',
      data: jsonArgument(data, 'Put', 'data'),
      delayMs: secondsArgument(delay ?? 0, 'Put', 'delay'),
      defaultRetries: NO_RETRY_LIMIT,
      ...(priority !== undefined && { priority: numberArgument(priority, 'Put', 'priority') }),
      ...(tags !== undefined && { tags: listArgument(tags, 'Put', 'tags') }),
    });
  }

  /** Returns a job, or null when it does not exist. */
  async get(id: string): Promise<DocumentJob | null> {
    const call = await this.#at(this.#clock());
    const job = await findJob(call, id);
    return job === null ? null : documentJob(await jobToJson(call, job));
  }

  /** Takes up to `count` jobs of a queue for a worker. Jobs whose lock expired come first. */
  async pop(
    ...[queue, worker, count, now, expiration]: [
      queue: string,
      worker: string,
      count: number | string,
      now: Seconds,
      expiration: Seconds,
    ]
  ): Promise<readonly DocumentJob[]> {
    const call = await this.#at(now);
    const jobs = await popJobs(call, { queue, worker, count, leaseMs: leaseUntil(call, expiration) });
    rememberTokens(call, jobs);
    return (await jobsToJson(call, jobs)).map(documentJob);
  }

  /** Returns the next jobs of a queue without taking them. */
  async peek(queue: string, count: number | string, now: Seconds): Promise<readonly DocumentJob[]> {
    const call = await this.#at(now);
    return (await jobsToJson(call, await peekJobs(call, { queue, offset: 0, count }))).map(documentJob);
  }

  /** Returns the new expiration, or false when the lock has expired or another worker has the job. */
  async heartbeat(
    ...[id, worker, expiration, data]: [id: string, worker: string, expiration: Seconds, data?: string]
  ): Promise<number | false> {
    const call = await this.#at(this.#clock());
    const leaseMs = leaseUntil(call, expiration);
    const given = { leaseMs, ...(data !== undefined && { data: jsonArgument(data, 'Heartbeat', 'data') }) };
    return orFalse(async () => beat(call, await lockedJob(call, id, worker), given, DOCUMENT));
  }

  /**
   * Returns the job's new state, or false when its lock has expired or another worker has it. Without a worker, this
   * object must have popped it.
   */
  async complete(
    ...[id, data, queue, delay, worker]: [id: string, data?: string, queue?: string, delay?: Seconds, worker?: string]
  ): Promise<string | false> {
    const call = await this.#at(this.#clock());
    const given = {
      delayMs: secondsArgument(delay ?? 0, 'Complete', 'delay'),
      depends: [],
      ...(data !== undefined && { data: jsonArgument(data, 'Complete', 'data') }),
      ...(queue !== undefined && { next: queue }),
    };
    return orFalse(() => ended(call, id, async () => completeJob(call, await lockedJob(call, id, worker), given)));
  }

  /** Fails a running job. Returns its id, or false when this object or worker does not hold it. */
  async fail(
    ...[id, type, message, now, worker]: [id: string, type: string, message: string, now: Seconds, worker?: string]
  ): Promise<string | false> {
    const call = await this.#at(now);
    const given = failure(textArgument(type, 'Fail', 'type'), textArgument(message, 'Fail', 'message'));
    const end = async () => failJob(call, await lockedJob(call, id, worker), { failure: given, data: null });
    return orFalse(() => ended(call, id, end));
  }

  /**
   * Returns how long the jobs of a day ran, or waited with `wait`. `date` is any second of that day, or YYYY-MM-DD;
   * default: today.
   */
  async stats(queue: string, date?: Seconds, of: 'run' | 'wait' = 'run'): Promise<DocumentStats> {
    const call = await this.#at(this.#clock());
    const found = await dayOfQueue(call, queueArgument(queue, 'Stats'), dayArgument(date ?? call.nowMs / 1_000));
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

  async #at(now: Seconds, dialect: Dialect = 'qless'): Promise<Call> {
    const nowMs = Math.round(timeArgument(now) * 1_000);
    const at = (ms: number): Store => storeAt(this.#store, ms);
    const { longhaul } = openConnection(at(nowMs), null);
    const call: Call = { longhaul, nowMs, dialect, session: this.#session, at };
    this.#isReady ??= prepare(this.#store, call);
    await this.#isReady;
    return call;
  }
}

/** Opens qless over a store with `clock: 'caller'`. Closing it does not close the store. */
export function openQless(store: Store, options: QlessOptions = {}): Qless {
  return new Qless(store, options);
}

/** Once for each object. */
async function prepare(store: Store, call: Call): Promise<void> {
  await mustUseCallersClock(store);
  await finishReplacements(call);
}

async function orFalse<Answer>(ask: () => Promise<Answer>): Promise<Answer | false> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof LonghaulError && error.code === 'refused') return false;
    throw error;
  }
}

/** A store that uses its own clock would let leases of another time end at once. */
async function mustUseCallersClock({ records }: Store): Promise<void> {
  const then = { now: 1_000 };
  await records.put({ kind: 'qless', key: 'clock', value: '{}' }, then);
  const record = await records.get('qless', 'clock', then);
  if (record?.updatedAt !== then.now)
    throw new LonghaulError('bad-input', "qless needs a store that was opened with clock: 'caller'");
}
