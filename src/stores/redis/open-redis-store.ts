/**
 * The Redis store: one namespace of a Redis or Valkey server, shared by everybody who opens it.
 *
 * The scripts decide (lua/), as core/lifecycle/lifecycle.ts says; this side carries requests and answers.
 */
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store, StoreDescription } from '../../core/ports/store.ts';
import { createRedisJobs } from './calls/redis-jobs.ts';
import { createRedisMigration } from './calls/redis-migration.ts';
import { createRedisRecords } from './calls/redis-records.ts';
import { type Ask, ScriptRunner } from './calls/script-runner.ts';
import { keyPrefix } from './client/client-library.ts';
import { Events } from './client/events.ts';
import { type RedisStoreOptions, settingsOf } from './client/options.ts';
import { Connection } from './client/primary-connection.ts';
import { checkStart } from './client/start-checks.ts';

/** An open Redis store. */
export interface RedisStore extends Store {
  /** What weakens the promises of this store, in words; for whoever opened it to show. */
  readonly notices: readonly string[];
  /** What was found when it was opened: server, role, replicas, durability. */
  readonly facts: readonly string[];
}

/** Opens a Redis store. Rejects when the server is unreachable, too old or misconfigured. */
export async function openRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const settings = settingsOf(options);
  const { connection, facts } = await Connection.open(settings);
  const { notices, found } = await checkStart(connection, settings, facts).catch((error: unknown) => {
    connection.close();
    throw connection.problem(error, 'opening');
  });
  const scripts = new ScriptRunner(connection, settings);
  const channel = (name: string) =>
    new Events((hear, onGap) => connection.subscribe(`${keyPrefix(settings)}${name}`, hear, onGap));
  const events = { all: channel('events'), work: channel('work') };
  const run: Ask = (name, args) => {
    const settling = events.all.settling ?? events.work.settling;
    return settling === undefined ? scripts.run(name, args) : settling.then(() => run(name, args));
  };
  const { clock } = settings;
  const calls = new OpenCalls();
  return {
    jobs: calls.watch(
      createRedisJobs({ clock, run, subscribe: (listener, scope = 'all') => events[scope].subscribe(listener) }),
    ),
    records: calls.watch(createRedisRecords({ clock, run })),
    migration: calls.watch(createRedisMigration({ clock, run })),
    isShared: true,
    notices,
    facts: found,
    describe: () => describeStore(options),
    close: () => calls.close(connection),
  };
}

type Method = (...args: never[]) => unknown;

/**
 * How many calls have no answer yet. Closing waits for them and lets no other in. They are counted and not kept: a
 * set that changes with every call is copied again and again, and its old copies hold the answers for long.
 */
class OpenCalls {
  #open = 0;
  #isClosed = false;
  #onNone: (() => void)[] = [];

  /** The same port, with every call that answers later counted. */
  watch<Port extends object>(port: Port): Port {
    const entries = Object.entries(port as Record<string, Method>);
    const watched = entries.map(([name, method]) => [name, name === 'subscribe' ? method : this.#watched(method)]);
    return Object.fromEntries(watched) as Port;
  }

  async close(connection: Connection): Promise<void> {
    this.#isClosed = true;
    if (this.#open > 0) await new Promise<void>((resolve) => this.#onNone.push(resolve));
    connection.close();
  }

  #watched(method: Method): Method {
    return (...args) => {
      if (this.#isClosed) return Promise.reject(new LonghaulError('store-closed', 'the store is closed'));
      const answer = method(...args) as Promise<unknown>;
      this.#open += 1;
      answer.then(this.#answered, this.#answered);
      return answer;
    };
  }

  readonly #answered = (): void => {
    this.#open -= 1;
    if (this.#open === 0) for (const resolve of this.#onNone.splice(0)) resolve();
  };
}

function describeStore(options: RedisStoreOptions): StoreDescription {
  return { module: new URL('./open-store.js', import.meta.url).href, options: { ...options }, transfer: [] };
}
