/**
 * The Redis store: one namespace of a Redis or Valkey server, shared by everybody who opens it.
 *
 * The scripts decide (lua/), as core/lifecycle.ts says; this side carries requests and answers.
 */
import { LonghaulError } from '../../core/errors.ts';
import type { Store, StoreDescription } from '../../core/store.ts';
import { keyPrefix } from './client-library.ts';
import { Connection } from './connection.ts';
import { Events } from './events.ts';
import { type RedisStoreOptions, settingsOf } from './options.ts';
import { createRedisJobs } from './redis-jobs.ts';
import { createRedisRecords } from './redis-records.ts';
import { type Ask, ScriptRunner } from './script-runner.ts';
import { checkStart } from './start-checks.ts';

export interface RedisStore extends Store {
  /** What weakens the promises of this store, in words; for whoever opened it to show. */
  readonly notices: readonly string[];
}

export async function openRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const settings = settingsOf(options);
  const { connection, facts } = await Connection.open(settings);
  const notices = await checkStart(connection, settings, facts).catch((error: unknown) => {
    connection.close();
    throw connection.problem(error, true);
  });
  const scripts = new ScriptRunner(connection, settings);
  const events = new Events((hear) => connection.subscribe(`${keyPrefix(settings)}events`, hear));
  const run: Ask = async (name, args) => {
    await events.settling;
    return scripts.run(name, args);
  };
  const { clock } = settings;
  const calls = new OpenCalls();
  return {
    jobs: calls.watch(createRedisJobs({ clock, run, subscribe: (listener) => events.subscribe(listener) })),
    records: calls.watch(createRedisRecords({ clock, run })),
    isShared: true,
    notices,
    describe: () => describeStore(options),
    close: () => calls.close(connection),
  };
}

type Method = (...args: never[]) => unknown;

/** The calls that have no answer yet. Closing waits for them and lets no other in. */
class OpenCalls {
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  /** The same port, with every call that answers later counted. */
  watch<Port extends object>(port: Port): Port {
    const entries = Object.entries(port as Record<string, Method>);
    const watched = entries.map(([name, method]) => [name, name === 'subscribe' ? method : this.#watched(method)]);
    return Object.fromEntries(watched) as Port;
  }

  async close(connection: Connection): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#open);
    connection.close();
  }

  #watched(method: Method): Method {
    return (...args) => {
      if (this.#isClosed) return Promise.reject(new LonghaulError('store-closed', 'the store is closed'));
      const answer = method(...args) as Promise<unknown>;
      this.#open.add(answer);
      const forget = () => this.#open.delete(answer);
      answer.then(forget, forget);
      return answer;
    };
  }
}

function describeStore(options: RedisStoreOptions): StoreDescription {
  return { module: new URL('./open-store.js', import.meta.url).href, options: { ...options }, transfer: [] };
}
