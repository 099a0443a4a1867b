/**
 * Opens the SQLite store: a file, and an engine thread that is the only user of its connection.
 *
 * The engine has a thread of its own because an fsync takes milliseconds, which must not block the event loop.
 */
import { dirname, resolve } from 'node:path';
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
  /** The database file. The file and its folder are created when they are missing. */
  readonly path: string;
  /** False: opening fails for a folder without a store, and nothing is created. */
  readonly create?: boolean;
  readonly clock?: ClockSource;
  /** `relaxed`: a power cut may lose the last moments; a crash of the process never does. */
  readonly durability?: 'full' | 'relaxed';
}

/** Opens the store and returns when the engine is ready. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { store } = await openWithEngine(options);
  return store;
}

/** Opens the store and returns its engine too: tests must be able to terminate it. */
export async function openWithEngine(options: SqliteStoreOptions): Promise<{ store: Store; engine: Worker }> {
  const { clock = 'store', durability = 'full', create = true } = options;
  const { port1: port, port2 } = new MessageChannel();
  const engine = new Worker(new URL('./engine/engine-thread.js', import.meta.url), {
    name: 'longhaul-sqlite',
    // The flags of the program are not inherited: with `--input-type`, for example, a worker cannot run a file.
    execArgv: [],
    workerData: { options: { path: resolve(options.path), clock, durability, create }, port: port2 },
    transferList: [port2],
  });
  let cause: unknown;
  engine.on('error', (error) => (cause = error));
  const ended = new Promise<void>((resolve) => engine.once('exit', () => resolve()));
  const problem = await Promise.race([firstReply(port), ended.then(() => pendingReply(port) ?? startFailed(cause))]);
  if (problem !== undefined) {
    port.close();
    await ended;
    throw problem;
  }
  const client = new PortClient(port);
  void ended.then(() => client.lose(cause));
  return { store: ownStore(client, dirname(resolve(options.path)), ended), engine };
}

/** Returns why the engine could not open the file, or undefined when it could. */
function firstReply(port: MessagePort): Promise<Error | undefined> {
  return new Promise((resolve) => {
    port.once('message', (message: FromEngine) => resolve(problemIn(message)));
  });
}

/** On a busy machine the `exit` event may arrive before the thread's message, which then still waits at the port. */
function pendingReply(port: MessagePort): Error | undefined {
  const left = receiveMessageOnPort(port) as { readonly message: FromEngine } | undefined;
  return left && problemIn(left.message);
}

function problemIn(message: FromEngine): Error | undefined {
  return message.kind === 'failed' ? fromThrown(message.problem) : undefined;
}

function startFailed(cause: unknown): LonghaulError {
  return new LonghaulError('store-unavailable', 'the store engine could not be started', { cause });
}
