/**
 * Those who speak to an engine, each through a port: their replies go back in batches, events to who listens.
 *
 * A user whose thread stands still takes nothing in, and what is sent to it would pile up without end. So events
 * are dropped for whoever is far behind; the slow poll is the net under them.
 */
import type { MessagePort } from 'node:worker_threads';
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import type { Outcome } from './group-writer.ts';
import type { FromEngine, Reply, Request, ToEngine } from './messages.ts';
import { toThrown } from './messages.ts';
import type { PackedEvents } from './packing.ts';
import { packAnswer, packEvents } from './packing.ts';

/** Messages with events that a user may be behind. */
const MAX_UNHEARD = 1_000;

export interface User {
  readonly port: MessagePort;
  isListening: boolean;
  unheard: number;
  replies: Reply[];
}

export interface Call {
  readonly user: User;
  readonly request: Request;
}

export class EngineUsers {
  readonly #users = new Set<User>();

  join(port: MessagePort, receive: (user: User, message: ToEngine) => void): void {
    const user: User = { port, isListening: false, unheard: 0, replies: [] };
    this.#users.add(user);
    port.on('message', (message: ToEngine) => receive(user, message));
    port.on('close', () => this.#users.delete(user));
  }

  /** Held back until `reply`. */
  answer({ user, request: [id, name] }: Call, outcome: Outcome): void {
    if ('error' in outcome) user.replies.push([id, undefined, toThrown(outcome.error)]);
    else user.replies.push([id, packAnswer(name, outcome.answer)]);
  }

  reply(): void {
    for (const user of this.#users) {
      if (user.replies.length === 0) continue;
      send(user, { kind: 'replies', replies: user.replies });
      user.replies = [];
    }
  }

  get isAnyoneListening(): boolean {
    return [...this.#users].some((user) => user.isListening);
  }

  tell(events: readonly StoreEvent[]): void {
    let packed: readonly PackedEvents[] | undefined;
    for (const user of this.#users) {
      if (!user.isListening || user.unheard >= MAX_UNHEARD) continue;
      user.unheard += 1;
      packed ??= packEvents(events);
      send(user, { kind: 'events', events: packed });
    }
  }

  close(): void {
    for (const { port } of this.#users) port.close();
  }
}

function send({ port }: User, message: FromEngine): void {
  port.postMessage(message);
}
