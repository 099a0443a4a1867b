/**
 * The clients of an engine, each with a port: replies are sent in batches, events only to clients that want them.
 *
 * A worker wants few of them: one that received its own claims and completions would spend a message on each.
 *
 * A client whose thread is blocked receives nothing, and messages to it would pile up without limit. So events for a
 * client that is far behind are dropped; its slow poll finds the changes later.
 */
import type { MessagePort } from 'node:worker_threads';
import type { EventScope, StoreEvent } from '../../../core/ports/job-store.ts';
import { isWorkEvent } from '../../../core/ports/job-store.ts';
import type { CallResult } from './group-writer.ts';
import type { FromEngine, Reply, Request, ToEngine } from './messages.ts';
import { toThrown } from './messages.ts';
import type { PackedEvents } from './packing.ts';
import { packAnswer, packEvents } from './packing.ts';

/** Messages with events that a client may leave unacknowledged. */
const MAX_UNACKNOWLEDGED = 1_000;

export interface EngineClient {
  readonly port: MessagePort;
  /** Which events it wants; null for none. */
  scope: EventScope | null;
  unacknowledged: number;
  replies: Reply[];
}

export interface Call {
  readonly client: EngineClient;
  readonly request: Request;
}

export class EngineClients {
  readonly #clients = new Set<EngineClient>();

  join(
    port: MessagePort,
    receive: (client: EngineClient, message: ToEngine) => void,
    left: (client: EngineClient) => void,
  ): void {
    const client: EngineClient = { port, scope: null, unacknowledged: 0, replies: [] };
    this.#clients.add(client);
    port.on('message', (message: ToEngine) => receive(client, message));
    port.on('close', () => {
      this.#clients.delete(client);
      left(client);
    });
  }

  /** Queues the reply of a call until `reply` sends it. */
  answer({ client, request: { id, name } }: Call, result: CallResult): void {
    if ('error' in result) client.replies.push([id, undefined, toThrown(result.error)]);
    else client.replies.push([id, packAnswer(name, result.answer)]);
  }

  reply(): void {
    for (const client of this.#clients) {
      if (client.replies.length === 0) continue;
      send(client, { kind: 'replies', replies: client.replies });
      client.replies = [];
    }
  }

  get hasListeners(): boolean {
    return [...this.#clients].some((client) => client.scope !== null);
  }

  emit(events: readonly StoreEvent[]): void {
    const packed: { -readonly [Scope in EventScope]?: readonly PackedEvents[] } = {};
    for (const client of this.#clients) {
      const { scope } = client;
      if (scope === null || client.unacknowledged >= MAX_UNACKNOWLEDGED) continue;
      packed[scope] ??= packEvents(scope === 'all' ? events : workEvents(events));
      if (packed[scope].length === 0) continue;
      client.unacknowledged += 1;
      send(client, { kind: 'events', events: packed[scope] });
    }
  }

  close(): void {
    for (const { port } of this.#clients) port.close();
  }
}

/** Leaves out the adds of jobs that were claimed in the same transaction: no worker needs to claim because of them. */
function workEvents(events: readonly StoreEvent[]): readonly StoreEvent[] {
  const work = events.filter(isWorkEvent);
  if (!work.some(({ type }) => type === 'added')) return work;
  const running = new Set(events.flatMap(({ type, id }) => (type === 'claimed' ? [id] : [])));
  return work.filter(({ type, id }) => type !== 'added' || !running.has(id));
}

function send({ port }: EngineClient, message: FromEngine): void {
  port.postMessage(message);
}
