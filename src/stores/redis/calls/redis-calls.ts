/**
 * The calls of a Redis store. The whole path of a call is in this file, in script-steps.ts (which scripts a call sends) and
 * in client/connection.ts:
 *
 *     call ─▶ batch ─▶ operation ─▶ run ─▶ send ─▶ Connection.send
 *
 * Adds, settlements and heartbeats that are made at the same time share a script call, and a claim takes the waiting
 * settlements with it. That is done only where the clock is the store's own: otherwise each call has its own time.
 */
import type { CallName } from '../../../core/operations/perform.ts';
import type { CallCarrier } from '../../../core/operations/port.ts';
import { jobStoreOver } from '../../../core/operations/port.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type {
  AddResult,
  CallOptions,
  ClaimRequest,
  ClaimResult,
  ClaimWait,
  Heartbeat,
  HeartbeatResult,
  JobStore,
  NewJob,
  Settlement,
  SettleResult,
} from '../../../core/ports/job-store.ts';
import { addingEvents } from '../../../core/ports/job-store.ts';
import type { LogStore } from '../../../core/ports/log-store.ts';
import type { MigrationPort } from '../../../core/ports/migration.ts';
import { migrationOver } from '../../../core/ports/migration.ts';
import type { Records } from '../../../core/ports/records.ts';
import type { Store } from '../../../core/ports/store.ts';
import type { Events } from '../client/events.ts';
import type { RedisSettings } from '../client/options.ts';
import type { PrimaryConnection } from '../client/primary-connection.ts';
import { isNoScript } from '../client/problem.ts';
import { keyPrefix } from '../client/redis-client.ts';
import { Batcher } from './batcher.ts';
import { settleAndClaim } from './claim.ts';
import { JOB_OPERATIONS, MAX_ITEMS } from './job-operations.ts';
import { LOG_OPERATIONS } from './log-operations.ts';
import { MIGRATION_OPERATIONS } from './migration-operations.ts';
import { RECORD_OPERATIONS } from './record-operations.ts';
import { clockArgument, type Operation, type ScriptAnswer, type ScriptRunner } from './script-runner.ts';
import { ScriptSteps } from './script-steps.ts';
import { type ScriptName, scriptOf } from './scripts.ts';
import { WaitingClaims } from './waiting-claims.ts';

/** Every call of the ports of a store. */
type OperationName =
  | CallName
  | `records.${keyof Records}`
  | `logs.${keyof LogStore}`
  | `migration.${keyof MigrationPort}`;

const OPERATIONS: Readonly<Record<OperationName, Operation<never, unknown>>> = {
  ...JOB_OPERATIONS,
  ...RECORD_OPERATIONS,
  ...LOG_OPERATIONS,
  ...MIGRATION_OPERATIONS,
};

/** Carries a call of any port by the name of its operation. */
type Call = (name: OperationName, argument: unknown, options?: CallOptions) => Promise<unknown>;

const BATCH = { size: MAX_ITEMS, batches: 2 };
/** Calls that add one job each are made by the hundred. */
const ADD_BATCH = { ...BATCH, halvesFrom: 64 };

interface Parts {
  readonly connection: PrimaryConnection;
  readonly settings: RedisSettings;
  readonly events: Events;
}

export class RedisCalls implements ScriptRunner {
  readonly #parts: Parts;
  readonly #prefix: string;
  readonly #steps = new ScriptSteps(
    (name, args, now) => this.#send(name, args, now),
    () => this.#aggregateLog(),
  );
  readonly #isBatching: boolean;
  readonly #adds = new Batcher<NewJob, AddResult>((jobs) => this.#add(jobs), ADD_BATCH);
  readonly #settlements = new Batcher<Settlement, SettleResult>((items) => JOB_OPERATIONS.settle(this, items), BATCH);
  readonly #heartbeats = new Batcher<Heartbeat, HeartbeatResult>(
    (items) => JOB_OPERATIONS.heartbeat(this, items),
    BATCH,
  );
  readonly #waiting: WaitingClaims;
  /** Calls without an answer. A number and not a set: V8 would copy a set that changes with every call, again and again. */
  #open = 0;
  #isClosed = false;
  #isAggregating = false;
  #onIdle: (() => void)[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#prefix = keyPrefix(parts.settings);
    this.#isBatching = parts.settings.clock === 'store';
    this.#waiting = new WaitingClaims({
      ...parts,
      steps: this.#steps,
      send: (name, args) => this.#send(name, args),
      claimNow: (request) => JOB_OPERATIONS.claim(this, request),
    });
  }

  /** Makes one call of a port. */
  readonly call: Call = (name, argument, options) => {
    if (this.#isClosed) return Promise.reject(new LonghaulError('store-closed', 'the store is closed'));
    this.#open += 1;
    const answer = this.#perform(name, argument, options);
    answer.then(this.#answered, this.#answered);
    return answer;
  };

  /** Refuses further calls, ends the waits of claims, waits for the open calls, and closes the connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.stop();
    if (this.#open > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    this.#waiting.close();
    this.#parts.connection.close();
  }

  #perform(name: OperationName, argument: unknown, { now, wait }: CallOptions = {}): Promise<unknown> {
    if (this.#isBatching) {
      if (name === 'claim') return this.#claim(argument as ClaimRequest, wait);
      if (name === 'settle') return this.#settlements.submit(argument as readonly Settlement[]);
      if (name === 'add') return this.#adds.submit(argument as readonly NewJob[]);
      if (name === 'heartbeat') return this.#heartbeats.submit(argument as readonly Heartbeat[]);
    }
    return OPERATIONS[name](this, argument as never, now);
  }

  /** A claim that waits sends no settlements: they would wait with it. */
  #claim(request: ClaimRequest, wait: ClaimWait | undefined): Promise<ClaimResult> {
    if (wait !== undefined && this.#parts.settings.replicas === 0) return this.#waiting.claim(request, wait);
    const settlements = this.#settlements.takeWaiting();
    const claimed =
      settlements === null ? JOB_OPERATIONS.claim(this, request) : settleAndClaim(this, settlements, request);
    this.#waiting.note(request, claimed);
    return claimed;
  }

  /** Sends an add and wakes the workers of this client, whose claim follows it on the same connection. */
  #add(jobs: readonly NewJob[]): Promise<readonly AddResult[]> {
    const answer = JOB_OPERATIONS.add(this, jobs);
    this.#parts.events.emitOwn(() => addingEvents(jobs));
    return answer;
  }

  /** A subscription that begins is awaited first, so that its listeners receive the events of this call. */
  async run(
    name: ScriptName,
    args: readonly string[],
    now?: number,
    queues?: readonly string[],
  ): Promise<ScriptAnswer> {
    const { events } = this.#parts;
    while (events.starting !== undefined) await events.starting;
    return await this.#steps.run(name, args, now, queues);
  }

  /**
   * Sends a script on the present connection. The server knows scripts by their checksum. A script that it does not know
   * did nothing and is sent whole: no other command is ever sent again.
   */
  async #send(name: ScriptName, args: readonly string[], now?: number): Promise<unknown> {
    const { connection, settings } = this.#parts;
    const { sha, text, isRead } = scriptOf(name);
    const rest = ['1', this.#prefix, clockArgument(settings.clock, now), ...args];
    try {
      const current = connection.current();
      const send = isRead || settings.replicas === 0 ? current.send : current.sendConfirmed;
      try {
        return await send(['EVALSHA', sha, ...rest]);
      } catch (error) {
        if (!isNoScript(error)) throw error;
        return await send(['EVAL', text, ...rest]);
      }
    } catch (error) {
      throw connection.problem(error, isRead ? 'read' : 'change');
    }
  }

  /** Has the log of statistics aggregated. If that fails, the answer to a later call demands it again. */
  readonly #aggregateLog = (): void => {
    if (this.#isAggregating) return;
    this.#isAggregating = true;
    this.#open += 1;
    const isOver = () => {
      this.#isAggregating = false;
      this.#answered();
    };
    this.#send('aggregate-statistics', []).then(isOver, isOver);
  };

  readonly #answered = (): void => {
    this.#open -= 1;
    if (this.#open === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  };
}

/** Performs an operation over scripts, without batches. */
export function perform(
  scripts: ScriptRunner,
  name: OperationName,
  argument: unknown,
  now: number | undefined,
): Promise<unknown> {
  return OPERATIONS[name](scripts, argument as never, now);
}

/** Returns the ports of a store over its calls. */
export function portsOver(
  call: Call,
  subscribe: JobStore['subscribe'],
): Pick<Store, 'jobs' | 'records' | 'logs' | 'migration'> {
  // The result of an operation is that of the port's call; the compiler sees only that it is one of them.
  const carry = call as <Answer>(name: OperationName, argument: unknown, options?: CallOptions) => Promise<Answer>;
  return {
    jobs: jobStoreOver(call as CallCarrier, subscribe),
    records: {
      get: (kind, key, options) => carry('records.get', { kind, key }, options),
      put: (record, options) => carry('records.put', record, options),
      list: (query, options) => carry('records.list', query, options),
      delete: (kind, key, options) => carry('records.delete', { kind, key, ifVersion: options?.ifVersion }, options),
    },
    logs: {
      append: (append, options) => carry('logs.append', append, options),
      read: (query, options) => carry('logs.read', query, options),
      restore: (log) => carry('logs.restore', log),
    },
    migration: migrationOver((name, argument) => call(`migration.${name}`, argument)),
  };
}
