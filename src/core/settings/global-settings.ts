/**
 * Settings for all queues: the global record, which applies where a queue sets no value of its own; and the source of
 * each setting. A setting that only makes sense for one queue is refused there, with the reason.
 */
import type { Check } from '../input/check.ts';
import { checked, oneOf } from '../input/check.ts';
import type { Problem } from '../ports/errors.ts';
import { badInput } from '../ports/errors.ts';
import { SETTING_DESCRIPTIONS } from './setting-descriptions.ts';
import type { SetSettings } from './settings.ts';
import { settingsOf } from './settings.ts';
import type { SettingsInput } from './settings-input.ts';
import { conflictingSettings, keyOfSetting, mergeSettings } from './settings-input.ts';

/** The name of a queue setting. */
export type SettingName = keyof SettingsInput;
export const SETTING_SOURCES = ['queue', 'global', 'default'] as const;
export type SettingSource = (typeof SETTING_SOURCES)[number];

/** A queue's own record, and the global one. */
export interface SettingLayers {
  readonly own: SetSettings | undefined;
  readonly shared: SetSettings | undefined;
}

/** A setting with its meaning, its value in effect, and where that value was set. */
export interface ExplainedSetting {
  /** The name of the setting. */
  readonly name: SettingName;
  /** A description. */
  readonly about: string;
  /** The value in effect: durations in milliseconds. */
  readonly value: unknown;
  /** Where the value was set: for the queue, for all queues, or nowhere. */
  readonly from: SettingSource;
}

export const SETTING_NAMES = Object.keys(SETTING_DESCRIPTIONS) as readonly SettingName[];
export const settingName: Check<SettingName> = oneOf(...SETTING_NAMES);

const FIELDS_OF_ONE = 'it names fields of the data of one queue';
const STATE_OF_ONE = 'each queue is paused or shut down separately';

/** Why a setting cannot be set for all queues. */
export const QUEUE_ONLY_SETTINGS: Readonly<Partial<Record<SettingName, string>>> = {
  script: 'a script belongs to one queue',
  state: STATE_OF_ONE,
  note: STATE_OF_ONE,
  keys: FIELDS_OF_ONE,
  coalesce: FIELDS_OF_ONE,
  search: FIELDS_OF_ONE,
};

/** Merges given global settings over the earlier ones. Throws `bad-input` with every problem. */
export function mergeGlobal(before: SetSettings, input: SettingsInput): SetSettings {
  const problems = SETTING_NAMES.flatMap((name): Problem[] => {
    const reason = input[name] === undefined ? undefined : QUEUE_ONLY_SETTINGS[name];
    return reason === undefined ? [] : [{ path: name, message: `cannot be set for all queues: ${reason}` }];
  });
  if (problems.length > 0) throw badInput('settings of all queues', problems);
  return mergeSettings(before, input);
}

/** Checks global settings against the settings of a queue. Throws `bad-input` with every problem. */
export function checkWithQueue(queue: string, layers: SettingLayers): void {
  const problems = conflictingSettings(settingsOf(layers.own, layers.shared));
  if (problems.length > 0) throw badInput(`settings of all queues, with those of queue ${queue}`, problems);
}

/** Removes a setting, so that its default applies. */
export function withoutSetting(set: SetSettings, name: SettingName): SetSettings {
  const key = keyOfSetting(checked('setting', name, settingName));
  return Object.fromEntries(Object.entries(set).filter(([each]) => each !== key));
}

export function sourceOf(name: SettingName, { own, shared }: SettingLayers): SettingSource {
  const key = keyOfSetting(name);
  if (own?.[key] !== undefined) return 'queue';
  return shared?.[key] !== undefined ? 'global' : 'default';
}

export function explainSettings(layers: SettingLayers): readonly ExplainedSetting[] {
  const settings = settingsOf(layers.own, layers.shared);
  return SETTING_NAMES.map((name) => ({
    name,
    about: SETTING_DESCRIPTIONS[name],
    value: settings[keyOfSetting(name)],
    from: sourceOf(name, layers),
  }));
}
