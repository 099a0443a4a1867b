/**
 * Reads and writes queue settings, with a copy in memory for workers, which need them synchronously. The global settings
 * have the name GLOBAL_SETTINGS_KEY.
 *
 * Invariant: of two changes at the same time neither is lost, because a write names the version that it read.
 */
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { liveSettings } from '../../core/settings/delete-queue.ts';
import type { ExplainedSetting, SettingLayers, SettingName } from '../../core/settings/global-settings.ts';
import { checkWithQueue, explainSettings, mergeGlobal, withoutSetting } from '../../core/settings/global-settings.ts';
import type { QueueSettings, SetSettings } from '../../core/settings/settings.ts';
import {
  DEFAULT_SETTINGS,
  GLOBAL_SETTINGS_KEY,
  QUEUE_RECORD,
  settingsIn,
  settingsOf,
} from '../../core/settings/settings.ts';
import type { SettingsInput } from '../../core/settings/settings-input.ts';
import { mergeSettings } from '../../core/settings/settings-input.ts';

const MAX_TRIES = 20;
const PAGE = 500;

export class SettingsCache {
  readonly #store: Store;
  readonly #known = new Map<string, QueueSettings>();
  #unsubscribe: (() => void) | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  async read(queue: string): Promise<QueueSettings> {
    const { own, shared } = await this.layers(queue);
    return settingsOf(own, shared);
  }

  async explain(queue: string): Promise<readonly ExplainedSetting[]> {
    return explainSettings(await this.layers(queue));
  }

  /** Returns the settings by where they were set. GLOBAL_SETTINGS_KEY has no layer of its own. */
  async layers(queue: string): Promise<SettingLayers> {
    const { records } = this.#store;
    const [own, shared] = await Promise.all([
      queue === GLOBAL_SETTINGS_KEY ? null : records.get(QUEUE_RECORD, queue),
      records.get(QUEUE_RECORD, GLOBAL_SETTINGS_KEY),
    ]);
    return { own: settingsIn(own), shared: settingsIn(shared) };
  }

  change(queue: string, input: SettingsInput): Promise<QueueSettings> {
    return this.#write(queue, (before, shared) =>
      queue === GLOBAL_SETTINGS_KEY ? mergeGlobal(before, input) : mergeSettings(before, input, shared),
    );
  }

  /** Removes a setting, so that it is inherited again. */
  unset(queue: string, name: SettingName): Promise<QueueSettings> {
    return this.#write(queue, (before) => withoutSetting(before, name));
  }

  /** Keeps a current copy of the settings of these queues for `at`. */
  async follow(queues: readonly string[]): Promise<void> {
    this.#unsubscribe ??= this.#store.jobs.subscribe((events) => {
      const changed = new Set(events.filter(({ type }) => type === 'queue').map(({ queue }) => queue));
      const isAny = changed.has(GLOBAL_SETTINGS_KEY) || events.some(({ type }) => type === 'gap');
      for (const queue of this.#known.keys()) if (isAny || changed.has(queue)) this.#refresh(queue);
    }, 'work');
    await Promise.all(queues.map(async (queue) => this.#known.set(queue, await this.read(queue))));
  }

  at(queue: string): QueueSettings {
    return this.#known.get(queue) ?? DEFAULT_SETTINGS;
  }

  close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
  }

  async #write(queue: string, next: (before: SetSettings, shared: SetSettings | undefined) => SetSettings) {
    const { records } = this.#store;
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const [record, { shared }] = await Promise.all([
        records.get(QUEUE_RECORD, queue),
        this.layers(GLOBAL_SETTINGS_KEY),
      ]);
      const set = next(liveSettings(record) ?? {}, shared);
      await this.#mustSuit(queue, set, shared);
      const put = { kind: QUEUE_RECORD, key: queue, value: JSON.stringify(set), ifVersion: record?.version ?? 0 };
      const answer = await records.put(put);
      if (answer.ok) return queue === GLOBAL_SETTINGS_KEY ? settingsOf(undefined, set) : settingsOf(set, shared);
    }
    throw new LonghaulError(
      'store-unavailable',
      `the settings of queue ${queue} are being changed by too many callers at once: try again`,
    );
  }

  /** Throws when a setting does not suit its queue. A queue that is changed at the same time escapes this check. */
  async #mustSuit(queue: string, set: SetSettings, shared: SetSettings | undefined): Promise<void> {
    if (queue !== GLOBAL_SETTINGS_KEY) return checkWithQueue(queue, { own: set, shared });
    for (let after = GLOBAL_SETTINGS_KEY; ; ) {
      const page = await this.#store.records.list({ kind: QUEUE_RECORD, after, limit: PAGE });
      for (const record of page) checkWithQueue(record.key, { own: settingsIn(record), shared: set });
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last.key;
    }
  }

  /** A copy that cannot be refreshed stays as it was; the store itself always uses the record. */
  #refresh(queue: string): void {
    this.read(queue).then(
      (settings) => this.#known.set(queue, settings),
      () => undefined,
    );
  }
}
