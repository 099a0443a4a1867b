/**
 * The events of a store: one message for each call that changes something, on two channels of the namespace.
 *
 * A message can be lost with its connection. Listeners then receive a gap event, and they poll slowly besides. A
 * subscription starts with the first listener of a channel. Until it is active, calls of this store wait for it, so that
 * the listener receives at least their events; but at most a second, because without a server they must fail. A
 * subscription that becomes active later than that begins with a gap event.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobState } from '../../../core/job/job.ts';
import type {
  EventListener,
  JobStore,
  StoreEvent,
  StoreEventType,
  Unsubscribe,
} from '../../../core/ports/job-store.ts';
import { GAP_EVENT } from '../../../core/ports/job-store.ts';
import { FIELD, PART } from '../encoding/layout.ts';

const MAX_WAIT_MS = 1_000;

/** The connection that subscribes to a channel. `onGap`: messages were lost. */
interface Subscriber {
  subscribe(channel: string, onMessage: (message: string) => void, onGap: () => void): Promise<void>;
}

export class Events {
  readonly #channels: { readonly all: Channel; readonly work: Channel };

  constructor(prefix: string, subscriber: Subscriber) {
    this.#channels = {
      all: new Channel(`${prefix}events`, subscriber),
      work: new Channel(`${prefix}work`, subscriber),
    };
  }

  readonly subscribe: JobStore['subscribe'] = (listener, scope = 'all') => this.#channels[scope].subscribe(listener);

  /** Emits events of this client's own calls to its workers, before the server publishes any. */
  emitOwn(events: () => readonly StoreEvent[]): void {
    if (this.#channels.work.hasListeners) this.#channels.work.emit(events());
  }

  /** A subscription that is not active yet; undefined when there is none. */
  get starting(): Promise<void> | undefined {
    return this.#channels.all.starting ?? this.#channels.work.starting;
  }
}

class Channel {
  readonly #name: string;
  readonly #subscriber: Subscriber;
  readonly #listeners = new Set<EventListener>();
  #started: Promise<void> | null = null;
  starting: Promise<void> | undefined = undefined;

  constructor(name: string, subscriber: Subscriber) {
    this.#name = name;
    this.#subscriber = subscriber;
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe(listener: EventListener): Unsubscribe {
    this.#listeners.add(listener);
    if (this.#started === null) this.starting = this.#started = this.#start();
    return () => this.#listeners.delete(listener);
  }

  async #start(): Promise<void> {
    const onMessage = (message: string): void => this.emit(readEvents(message));
    const onGap = (): void => this.emit([GAP_EVENT]);
    const active = this.#subscriber.subscribe(this.#name, onMessage, onGap).catch(() => undefined);
    const late = sleep(MAX_WAIT_MS, 'late' as const, { ref: false });
    // Calls wait no longer, so that their events are lost until it is active.
    if ((await Promise.race([active, late])) === 'late') void active.then(onGap);
    this.starting = undefined;
  }

  emit(events: readonly StoreEvent[]): void {
    for (const listener of this.#listeners) listener(events);
  }
}

/** A line for each group of equal events: type, state, queue, then the ids. */
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
