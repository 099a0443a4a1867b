/**
 * The engine: takes the calls of all its users, answers those that only look, and writes the others in groups.
 *
 *     message ──▶ queued ──drain──▶ looks answered ──▶ one group written ──▶ replies and events ──▶ drain …
 *
 * What comes while a group is being written is the next group. While another process holds the write lock, the
 * group waits and looks go on; after five seconds its callers hear who holds it.
 */
import type { MessagePort } from 'node:worker_threads';
import type { StoreEvent } from '../../core/job-store.ts';
import { lockedError } from './file-holders.ts';
import type { GroupWriter, Outcome } from './group-writer.ts';
import type { FromEngine, Reply, Request, ToEngine } from './messages.ts';
import { toThrown } from './messages.ts';
import type { Session } from './session.ts';
import { isLook } from './session.ts';
import { explain, isBusy } from './sqlite-problem.ts';

const MAX_BLOCKED_MS = 5_000;
const RETRY_MS = 1;

interface User {
  readonly port: MessagePort;
  isListening: boolean;
  replies: Reply[];
}

interface Call {
  readonly user: User;
  readonly request: Request;
}

export interface EngineParts {
  readonly path: string;
  readonly session: Session;
  readonly writer: GroupWriter;
  /** Others must look: something was written. */
  readonly wake: () => void;
  /** All calls have their answers and no more will be taken. */
  readonly closed: () => void;
}

export class Engine {
  readonly #parts: EngineParts;
  readonly #users = new Set<User>();
  #looks: Call[] = [];
  #writes: Call[] = [];
  #isScheduled = false;
  #isClosing = false;
  #blockedSince: number | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  join(port: MessagePort): void {
    const user: User = { port, isListening: false, replies: [] };
    this.#users.add(user);
    port.on('message', (message: ToEngine) => this.#receive(user, message));
    port.on('close', () => this.#users.delete(user));
  }

  /** To everybody here who listens. */
  tell(events: readonly StoreEvent[]): void {
    for (const user of this.#users) if (user.isListening) send(user, { kind: 'events', events });
  }

  #receive(user: User, message: ToEngine): void {
    switch (message.kind) {
      case 'requests':
        for (const request of message.requests) this.#queue({ user, request });
        break;
      case 'listen':
        user.isListening = message.isListening;
        return;
      case 'join':
        this.join(message.port);
        return;
      case 'close':
        this.#isClosing = true;
        break;
    }
    this.#schedule();
  }

  #queue(call: Call): void {
    if (isLook(call.request[1])) this.#looks.push(call);
    else this.#writes.push(call);
  }

  #schedule(delayMs = 0): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (delayMs === 0) setImmediate(() => this.#drain());
    else setTimeout(() => this.#drain(), delayMs);
  }

  #drain(): void {
    this.#isScheduled = false;
    this.#answerLooks();
    if (this.#writes.length > 0) this.#writeGroup();
    this.#reply();
    if (this.#writes.length > 0) this.#schedule(this.#blockedSince === undefined ? 0 : RETRY_MS);
    else if (this.#isClosing) this.#end();
  }

  #answerLooks(): void {
    const calls = this.#looks;
    if (calls.length === 0) return;
    this.#looks = [];
    try {
      const { session } = this.#parts;
      session.look(() => {
        for (const call of calls) answer(call, this.#look(call));
      });
    } catch (error) {
      // Before the first of them: the file could not be read at all.
      for (const call of calls) answer(call, { error: explain(error, this.#parts.path) });
    }
  }

  #look({ request }: Call): Outcome {
    const { session, path } = this.#parts;
    try {
      return { answer: session.perform(request, session.lookMoment(request)) };
    } catch (error) {
      return { error: explain(error, path) };
    }
  }

  #writeGroup(): void {
    const calls = this.#writes;
    try {
      const { outcomes, events } = this.#parts.writer.write(calls.map(({ request }) => request));
      this.#writes = calls.slice(outcomes.length);
      this.#blockedSince = undefined;
      for (const [place, outcome] of outcomes.entries()) answer(calls[place] as Call, outcome);
      if (events.length > 0) this.#publish(events);
    } catch (error) {
      if (!isBusy(error)) throw error;
      this.#wait();
    }
  }

  #publish(events: readonly StoreEvent[]): void {
    if (this.#parts.session.peers.hasOthers) this.#parts.wake();
    this.tell(events);
  }

  #wait(): void {
    const now = performance.now();
    this.#blockedSince ??= now;
    if (now - this.#blockedSince < MAX_BLOCKED_MS) return;
    const error = lockedError(this.#parts.path, this.#parts.session.peers.pids, MAX_BLOCKED_MS);
    for (const call of this.#writes) answer(call, { error });
    this.#writes = [];
    this.#blockedSince = undefined;
  }

  #reply(): void {
    for (const user of this.#users) {
      if (user.replies.length === 0) continue;
      send(user, { kind: 'replies', replies: user.replies });
      user.replies = [];
    }
  }

  #end(): void {
    this.#parts.closed();
    for (const { port } of this.#users) port.close();
  }
}

function answer({ user, request: [id] }: Call, outcome: Outcome): void {
  user.replies.push('error' in outcome ? [id, undefined, toThrown(outcome.error)] : [id, outcome.answer]);
}

function send({ port }: User, message: FromEngine): void {
  port.postMessage(message);
}
