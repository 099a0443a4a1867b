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
import { type ScriptAnswer, ScriptRunner } from './script-runner.ts';
import type { ScriptName } from './scripts.ts';
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
  const calls = new OpenCalls(scripts, events);
  const { clock } = settings;
  return {
    jobs: createRedisJobs({
      clock,
      run: (name, args) => calls.run(name, args),
      subscribe: (listener) => events.subscribe(listener),
    }),
    records: createRedisRecords({ clock, run: (name, args) => calls.run(name, args) }),
    isShared: true,
    notices,
    describe: () => describeStore(options),
    close: () => calls.close(connection),
  };
}

/** The calls that have no answer yet: closing waits for them. */
class OpenCalls {
  readonly #scripts: ScriptRunner;
  readonly #events: Events;
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(scripts: ScriptRunner, events: Events) {
    this.#scripts = scripts;
    this.#events = events;
  }

  run(name: ScriptName, args: readonly string[]): Promise<ScriptAnswer> {
    if (this.#isClosed) return Promise.reject(new LonghaulError('store-closed', 'the store is closed'));
    const { settling } = this.#events;
    const answer =
      settling === undefined ? this.#scripts.run(name, args) : settling.then(() => this.#scripts.run(name, args));
    this.#open.add(answer);
    const forget = () => this.#open.delete(answer);
    answer.then(forget, forget);
    return answer;
  }

  async close(connection: Connection): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#open);
    connection.close();
  }
}

function describeStore(options: RedisStoreOptions): StoreDescription {
  return { module: new URL('./open-store.js', import.meta.url).href, options: { ...options }, transfer: [] };
}
