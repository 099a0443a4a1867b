/**
 * Queue settings as the library reads and writes them, with a copy at hand for workers, which need them at once.
 *
 * Invariant: a change by two people at the same time loses neither's: a write names the version it saw.
 */
import { LonghaulError } from '../core/errors.ts';
import type { QueueSettings } from '../core/settings.ts';
import { DEFAULT_SETTINGS, QUEUE_RECORD, settingsOf } from '../core/settings.ts';
import type { SettingsInput } from '../core/settings-input.ts';
import { mergeSettings } from '../core/settings-input.ts';
import type { Store } from '../core/store.ts';

const MOST_TRIES = 20;

export class SettingsKeeper {
  readonly #store: Store;
  readonly #known = new Map<string, QueueSettings>();
  #unsubscribe: (() => void) | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  async read(queue: string): Promise<QueueSettings> {
    const record = await this.#store.records.get(QUEUE_RECORD, queue);
    return settingsOf(record === null ? undefined : parse(record.value));
  }

  async change(queue: string, input: SettingsInput): Promise<QueueSettings> {
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const record = await this.#store.records.get(QUEUE_RECORD, queue);
      const next = mergeSettings(record === null ? {} : parse(record.value), input);
      const put = { kind: QUEUE_RECORD, key: queue, value: JSON.stringify(next), ifVersion: record?.version ?? 0 };
      const answer = await this.#store.records.put(put);
      if (answer.ok) return settingsOf(next);
    }
    throw new LonghaulError(
      'store-unavailable',
      `the settings of queue ${queue} are being changed by too many at once`,
    );
  }

  /** Keeps a fresh copy of these queues' settings for `at`. */
  async follow(queues: readonly string[]): Promise<void> {
    this.#unsubscribe ??= this.#store.jobs.subscribe((events) => {
      const changed = new Set(events.filter(({ type }) => type === 'queue').map(({ queue }) => queue));
      for (const queue of changed) if (this.#known.has(queue)) this.#refresh(queue);
    }, 'work');
    await Promise.all(queues.map(async (queue) => this.#known.set(queue, await this.read(queue))));
  }

  at(queue: string): QueueSettings {
    return this.#known.get(queue) ?? DEFAULT_SETTINGS;
  }

  /** A copy that could not be refreshed stays as it was: the store itself always goes by the record. */
  #refresh(queue: string): void {
    this.read(queue).then(
      (settings) => this.#known.set(queue, settings),
      () => undefined,
    );
  }

  close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
  }
}

function parse(value: string): Partial<QueueSettings> {
  return JSON.parse(value) as Partial<QueueSettings>;
}
