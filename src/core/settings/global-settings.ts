/**
 * Settings for every queue: the global record, which a queue goes by wherever its own says nothing; and where each of a
 * queue's settings comes from. What only makes sense for one queue is refused there, with the reason.
 */
import type { Check } from '../input/check.ts';
import { checked, oneOf } from '../input/check.ts';
import type { Problem } from '../ports/errors.ts';
import { badInput } from '../ports/errors.ts';
import { SETTING_WORDS } from './setting-descriptions.ts';
import type { SetSettings } from './settings.ts';
import { settingsOf } from './settings.ts';
import type { SettingsInput } from './settings-input.ts';
import { keyOfSetting, mergeSettings, problemsTogether } from './settings-input.ts';

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
  /** What it means, in words. */
  readonly about: string;
  /** As it is gone by: durations in milliseconds. */
  readonly value: unknown;
  /** Where the value was set: for the queue, for all queues, or nowhere. */
  readonly from: SettingSource;
}

export const SETTING_NAMES = Object.keys(SETTING_WORDS) as readonly SettingName[];
export const settingName: Check<SettingName> = oneOf(...SETTING_NAMES);

const FIELDS_OF_ONE = 'it names fields of the data, which are those of one queue';
const STATE_OF_ONE = 'a queue is paused or down by itself';

/** Why a setting cannot be that of every queue. */
export const ONE_QUEUE_ALONE: Readonly<Partial<Record<SettingName, string>>> = {
  script: 'a script is what one queue does',
  state: STATE_OF_ONE,
  note: STATE_OF_ONE,
  keys: FIELDS_OF_ONE,
  coalesce: FIELDS_OF_ONE,
  search: FIELDS_OF_ONE,
};

/** What somebody set for every queue, merged over what was set before. Throws `bad-input` with every problem. */
export function mergeGlobal(before: SetSettings, input: SettingsInput): SetSettings {
  const problems = SETTING_NAMES.flatMap((name): Problem[] => {
    const reason = input[name] === undefined ? undefined : ONE_QUEUE_ALONE[name];
    return reason === undefined ? [] : [{ path: name, message: `cannot be set for every queue: ${reason}` }];
  });
  if (problems.length > 0) throw badInput('settings of every queue', problems);
  return mergeSettings(before, input);
}

/** What would be wrong with a queue beside these global settings, as `badInput` tells it. */
export function mustSuitQueue(queue: string, layers: SettingLayers): void {
  const problems = problemsTogether(settingsOf(layers.own, layers.shared));
  if (problems.length > 0) throw badInput(`settings of every queue, beside those of queue ${queue}`, problems);
}

/** As if nobody had set it. */
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
    about: SETTING_WORDS[name],
    value: settings[keyOfSetting(name)],
    from: sourceOf(name, layers),
  }));
}
