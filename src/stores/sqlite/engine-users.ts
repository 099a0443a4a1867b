/** Those who speak to an engine, each through a port: their replies go back in batches, events to who listens. */
import type { MessagePort } from 'node:worker_threads';
import type { StoreEvent } from '../../core/job-store.ts';
import type { Outcome } from './group-writer.ts';
import type { FromEngine, Reply, Request, ToEngine } from './messages.ts';
import { toThrown } from './messages.ts';

export interface User {
  readonly port: MessagePort;
  isListening: boolean;
  replies: Reply[];
}

export interface Call {
  readonly user: User;
  readonly request: Request;
}

export class EngineUsers {
  readonly #users = new Set<User>();

  join(port: MessagePort, receive: (user: User, message: ToEngine) => void): void {
    const user: User = { port, isListening: false, replies: [] };
    this.#users.add(user);
    port.on('message', (message: ToEngine) => receive(user, message));
    port.on('close', () => this.#users.delete(user));
  }

  /** Held back until `reply`. */
  answer({ user, request: [id] }: Call, outcome: Outcome): void {
    user.replies.push('error' in outcome ? [id, undefined, toThrown(outcome.error)] : [id, outcome.answer]);
  }

  reply(): void {
    for (const user of this.#users) {
      if (user.replies.length === 0) continue;
      send(user, { kind: 'replies', replies: user.replies });
      user.replies = [];
    }
  }

  tell(events: readonly StoreEvent[]): void {
    for (const user of this.#users) if (user.isListening) send(user, { kind: 'events', events });
  }

  close(): void {
    for (const { port } of this.#users) port.close();
  }
}

function send({ port }: User, message: FromEngine): void {
  port.postMessage(message);
}
