/**
 * What happens in the store, as Redis tells it: one message a call of anybody, on a channel of the namespace.
 *
 * A message can be lost (a connection that breaks), so listeners poll slowly besides, and hear of the gap. Listening starts with the first
 * listener; until it stands, calls of this store wait for it, so that it hears at least of them, but never for long:
 * without a way to the server they must end and say so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobState } from '../../../core/job/job.ts';
import type { EventListener, StoreEvent, StoreEventType, Unsubscribe } from '../../../core/ports/job-store.ts';
import { GAP_EVENT } from '../../../core/ports/job-store.ts';
import { FIELD, PART } from '../encoding/layout.ts';

const MAX_WAIT_MS = 1_000;

/** `onGap`: messages were lost. */
type Listen = (hear: (message: string) => void, onGap: () => void) => Promise<void>;

export class Events {
  readonly #listeners = new Set<EventListener>();
  readonly #listen: Listen;
  #starting: Promise<void> | null = null;
  #isSettled = false;

  constructor(listen: Listen) {
    this.#listen = listen;
  }

  subscribe(listener: EventListener): Unsubscribe {
    this.#listeners.add(listener);
    this.#starting ??= this.#start();
    return () => this.#listeners.delete(listener);
  }

  /** Undefined when there is nothing to wait for. */
  get settling(): Promise<void> | undefined {
    return this.#starting === null || this.#isSettled ? undefined : this.#starting;
  }

  async #start(): Promise<void> {
    const onGap = (): void => this.#tell([GAP_EVENT]);
    const standing = this.#listen((message) => this.#tell(readEvents(message)), onGap).catch(() => undefined);
    await Promise.race([standing, sleep(MAX_WAIT_MS, undefined, { ref: false })]);
    this.#isSettled = true;
  }

  #tell(events: readonly StoreEvent[]): void {
    for (const listener of this.#listeners) listener(events);
  }
}

/** Lines of events alike: type, state, queue, then the ids. */
export function readEvents(message: string): StoreEvent[] {
  return message.split(PART).flatMap((line) => {
    const [type = '', state = '', queue = '', ...ids] = line.split(FIELD);
    return ids.map((id) => ({
      type: type as StoreEventType,
      id,
      queue,
      state: state === '' ? null : (state as JobState),
    }));
  });
}
