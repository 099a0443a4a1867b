/**
 * The engine: takes the calls of all its users, answers those that only look, and writes the others in groups.
 *
 *     message ──▶ queued ──drain──▶ looks answered ──▶ one group written ──▶ replies and events ──▶ drain …
 *
 * What comes while a group is being written is the next group. Chores wait for a moment in which nobody else wants to
 * write. While another process holds the write lock, the group waits and looks go on; when that takes too long its
 * callers hear who holds it (lock-patience.ts).
 */
import type { MessagePort } from 'node:worker_threads';
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import type { Call, User } from './engine-users.ts';
import { EngineUsers } from './engine-users.ts';
import type { FileHealth } from './file-health.ts';
import { lockedError } from './file-holders.ts';
import type { GroupWriter, Outcome } from './group-writer.ts';
import { LockPatience } from './lock-timeout.ts';
import type { ToEngine } from './messages.ts';
import { isLook } from './messages.ts';
import { unpackArgument } from './packing.ts';
import type { Session } from './session.ts';
import { isBusy } from './sqlite-problem.ts';

/** Where somebody always wants to write, chores go along with a group after so long. */
const MAX_PUT_OFF_MS = 25;

export interface EngineParts {
  readonly session: Session;
  readonly writer: GroupWriter;
  readonly health: FileHealth;
  /** Others must look: something was written. */
  readonly wake: () => void;
  /** All calls have their answers and no more will be taken. */
  readonly closed: () => void;
}

export class Engine {
  readonly #parts: EngineParts;
  readonly #users = new EngineUsers();
  #looks: Call[] = [];
  #writes: Call[] = [];
  #chores: Call[] = [];
  #choresDueAt = 0;
  #pauseMs = 0;
  #isScheduled = false;
  #isClosing = false;
  readonly #patience = new LockPatience();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  join(port: MessagePort): void {
    this.#users.join(port, (user, message) => this.#receive(user, message));
  }

  get isAnyoneListening(): boolean {
    return this.#users.isAnyoneListening;
  }

  /** To everybody here who listens. */
  tell(events: readonly StoreEvent[]): void {
    this.#users.tell(events);
  }

  #receive(user: User, message: ToEngine): void {
    switch (message.kind) {
      case 'requests':
        for (const [id, name, packed, now] of message.requests)
          this.#queue({ user, request: [id, name, unpackArgument(name, packed), now] });
        break;
      case 'listen':
        user.isListening = message.isListening;
        return;
      case 'heard':
        user.unheard -= message.messages;
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
    const [, name] = call.request;
    if (isLook(name)) this.#looks.push(call);
    else if (name === 'maintain') this.#putOff(call);
    else this.#writes.push(call);
  }

  #putOff(call: Call): void {
    if (this.#chores.length === 0) this.#choresDueAt = performance.now() + MAX_PUT_OFF_MS;
    this.#chores.push(call);
  }

  /** In a group of their own whoever comes in the meantime waits for them and for their way to the disk; in that of others all of those do. */
  #admitChores(): void {
    if (this.#chores.length === 0) return;
    if (this.#writes.length > 0 && performance.now() < this.#choresDueAt) return;
    this.#writes.push(...this.#chores);
    this.#chores = [];
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
    this.#admitChores();
    if (this.#writes.length > 0) this.#writeGroup();
    this.#users.reply();
    if (this.#writes.length + this.#chores.length > 0) this.#schedule(this.#pauseMs);
    else if (this.#isClosing) this.#end();
  }

  #answerLooks(): void {
    const calls = this.#looks;
    if (calls.length === 0) return;
    this.#looks = [];
    const { broken } = this.#parts.health;
    if (broken !== undefined) return this.#refuse(calls, broken);
    try {
      const outcomes = this.#parts.session.look(() => calls.map((call) => this.#look(call)));
      for (const [place, outcome] of outcomes.entries())
        this.#users.answer(calls[place] as Call, this.#explained(outcome));
    } catch (error) {
      // The file could not be read at all.
      this.#refuse(calls, this.#parts.health.explain(error));
    }
  }

  #look({ request }: Call): Outcome {
    const { session } = this.#parts;
    try {
      return { answer: session.perform(request, session.lookMoment(request)) };
    } catch (error) {
      return { error };
    }
  }

  #explained(outcome: Outcome): Outcome {
    return 'error' in outcome ? { error: this.#parts.health.explain(outcome.error) } : outcome;
  }

  #writeGroup(): void {
    const calls = this.#writes;
    try {
      const { outcomes, events } = this.#parts.writer.write(calls.map(({ request }) => request));
      this.#writes = calls.slice(outcomes.length);
      this.#goOn();
      for (const [place, outcome] of outcomes.entries()) this.#users.answer(calls[place] as Call, outcome);
      if (events.length > 0) this.#publish(events);
    } catch (error) {
      if (!isBusy(error)) throw error;
      this.#wait();
    }
  }

  #publish(events: readonly StoreEvent[]): void {
    if (this.#parts.session.others.areThere) this.#parts.wake();
    this.tell(events);
  }

  #wait(): void {
    const { path, others } = this.#parts.session;
    const next = this.#patience.refused(performance.now(), others.progress);
    if ('pauseMs' in next) {
      this.#pauseMs = next.pauseMs;
      return;
    }
    this.#refuse(this.#writes, lockedError(path, others.pids, next.lockedMs));
    this.#writes = [];
    this.#goOn();
  }

  #goOn(): void {
    this.#patience.end();
    this.#pauseMs = 0;
  }

  #refuse(calls: readonly Call[], error: unknown): void {
    for (const call of calls) this.#users.answer(call, { error });
  }

  #end(): void {
    this.#parts.closed();
    this.#users.close();
  }
}
