/**
 * One SQLite file opened by three processes: each call goes to the next of them in turn, so that no cache of one
 * process can replace what is in the file. Only the first one delivers events.
 */

import { jobStoreOver } from '../../src/core/operations/port.ts';
import { LonghaulError } from '../../src/core/ports/errors.ts';
import type { EventListener, StoreEvent } from '../../src/core/ports/job-store.ts';
import { migrationOver } from '../../src/core/ports/migration.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { type Fixture, type Message, startFixture } from '../support/processes.ts';
import type { OpenStore } from './contract.ts';
import { anEmptyDatabase, durability } from './open-sqlite.ts';

const PROCESSES = 3;
const FOREVER_MS = 2 ** 31 - 1;

/** One process, and the calls that wait for its replies. */
class Peer {
  readonly #fixture: Fixture;
  readonly #answers = new Map<number, (message: Message) => void>();
  readonly #listeners = new Map<string, Set<EventListener>>();
  #calls = 0;

  constructor(fixture: Fixture) {
    this.#fixture = fixture;
    void this.#hear();
  }

  async call(store: string, message: object): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    const answered = new Promise<Message>((resolve) => this.#answers.set(id, resolve));
    this.#fixture.send({ id, store, ...message });
    const { answer, error } = await answered;
    if (error === undefined) return answer;
    const { code, message: text } = error as Pick<LonghaulError, 'code' | 'message'>;
    throw new LonghaulError(code, text);
  }

  listenersOf(store: string): Set<EventListener> {
    const listeners = this.#listeners.get(store) ?? new Set();
    this.#listeners.set(store, listeners);
    return listeners;
  }

  forget(store: string): void {
    this.#listeners.delete(store);
  }

  async #hear(): Promise<void> {
    for (;;) {
      const message = await this.#fixture.next(() => true, FOREVER_MS).catch(() => null);
      if (message === null) return;
      const { id, store, events } = message as { id?: number; store?: string; events?: readonly StoreEvent[] };
      if (id !== undefined) this.#answers.get(id)?.(message);
      if (store === undefined || events === undefined) continue;
      for (const listener of this.#listeners.get(store) ?? []) listener(events);
    }
  }
}

/** The processes are started once and serve every store of the test file. */
export function openOnThreeProcesses(): OpenStore {
  let starting: Promise<readonly Peer[]> | undefined;
  let stores = 0;
  return async ({ clock }) => {
    starting ??= startPeers();
    const peers = await starting;
    stores += 1;
    const name = `store-${stores}`;
    const options = { path: await anEmptyDatabase(), clock, durability };
    await Promise.all(peers.map((peer) => peer.call(name, { op: 'open', engine: 'here', options })));
    return storeOver(peers, name);
  };
}

function startPeers(): Promise<readonly Peer[]> {
  return Promise.all(
    Array.from({ length: PROCESSES }, async () => {
      const fixture = await startFixture('sqlite-process.mjs');
      await fixture.next(({ type }) => type === 'ready');
      return new Peer(fixture);
    }),
  );
}

function storeOver(peers: readonly Peer[], store: string): Store {
  let turn = 0;
  let isHeard = false;
  const carry = (
    op: 'jobs' | 'records' | 'logs' | 'migration',
    name: string,
    args: readonly unknown[],
  ): Promise<unknown> => {
    turn += 1;
    return (peers[turn % peers.length] as Peer).call(store, { op, name, args });
  };
  const record =
    (name: string) =>
    (...args: readonly unknown[]) =>
      carry('records', name, args) as never;
  const [first] = peers as readonly [Peer];
  return {
    jobs: jobStoreOver(
      (name, argument, options) => carry('jobs', name, name === 'workers' ? [options] : [argument, options]) as never,
      (listener) => {
        // Only once: otherwise every event would be delivered several times.
        if (!isHeard) void first.call(store, { op: 'listen' });
        isHeard = true;
        first.listenersOf(store).add(listener);
        return () => first.listenersOf(store).delete(listener);
      },
    ),
    records: { get: record('get'), put: record('put'), list: record('list'), delete: record('delete') },
    logs: {
      append: (...args) => carry('logs', 'append', args) as never,
      read: (...args) => carry('logs', 'read', args) as never,
      restore: (...args) => carry('logs', 'restore', args) as never,
    },
    migration: migrationOver((name, argument) => carry('migration', name, argumentsOf(argument))),
    isShared: false,
    describe: () => null,
    close: async () => {
      first.forget(store);
      await Promise.all(peers.map((peer) => peer.call(store, { op: 'close' })));
    },
  };
}

/** A migration call by name has its arguments in one object; the port has them as a list. */
function argumentsOf(argument: unknown): readonly unknown[] {
  if (typeof argument !== 'object' || argument === null || 'rows' in argument) return [argument];
  const { next, before, part, after, limit } = argument as Record<string, unknown>;
  return part === undefined ? [next, before] : [part, after, limit];
}
