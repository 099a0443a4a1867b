/**
 * Opening the SQLite store: a file, and a thread that alone speaks to it.
 *
 * The thread is there because an fsync takes milliseconds in which nobody else should stand still.
 */
import { resolve } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { ClockSource } from '../../core/lifecycle/clock.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import type { FromEngine } from './engine/messages.ts';
import { fromThrown } from './engine/messages.ts';
import { PortClient } from './engine/port-client.ts';
import { ownStore } from './engine/port-store.ts';

export interface SqliteStoreOptions {
  /** The database file; it and its folder are created when they are missing. */
  readonly path: string;
  /** False: a folder without a store is refused and nothing is created. */
  readonly create?: boolean;
  readonly clock?: ClockSource;
  /** `relaxed`: a power cut may take the last moments with it; a crash of the process never does. */
  readonly durability?: 'full' | 'relaxed';
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { store } = await openWithEngine(options);
  return store;
}

/** For tests, which must be able to end the engine. */
export async function openWithEngine(options: SqliteStoreOptions): Promise<{ store: Store; engine: Worker }> {
  const { clock = 'store', durability = 'full', create = true } = options;
  const { port1: port, port2 } = new MessageChannel();
  const engine = new Worker(new URL('./engine/engine-thread.js', import.meta.url), {
    name: 'longhaul-sqlite',
    // What the program was started with is its own: `--input-type`, for one, no file can be run with.
    execArgv: [],
    workerData: { options: { path: resolve(options.path), clock, durability, create }, port: port2 },
    transferList: [port2],
  });
  let cause: unknown;
  engine.on('error', (error) => (cause = error));
  const ended = new Promise<void>((resolve) => engine.once('exit', () => resolve()));
  const problem = await Promise.race([firstWord(port), ended.then(() => lastWord(port) ?? gone(cause))]);
  if (problem !== undefined) {
    port.close();
    await ended;
    throw problem;
  }
  const client = new PortClient(port);
  void ended.then(() => client.lose(cause));
  return { store: ownStore(client, ended), engine };
}

/** Why the engine could not open the file, or undefined when it could. */
function firstWord(port: MessagePort): Promise<Error | undefined> {
  return new Promise((resolve) => {
    port.once('message', (message: FromEngine) => resolve(refusalIn(message)));
  });
}

/** On a busy machine the end of the thread may be heard before what it said, which then still lies at the port. */
function lastWord(port: MessagePort): Error | undefined {
  const left = receiveMessageOnPort(port) as { readonly message: FromEngine } | undefined;
  return left && refusalIn(left.message);
}

function refusalIn(message: FromEngine): Error | undefined {
  return message.kind === 'refused' ? fromThrown(message.problem) : undefined;
}

function gone(cause: unknown): LonghaulError {
  return new LonghaulError('store-unavailable', 'the engine of the store could not be started', { cause });
}
