/** The input for a new queue: its name, and the settings that differ from the default. */
import type { Check, Report } from '../core/input/check.ts';
import { show } from '../core/input/check.ts';
import { described, schemaOf } from '../core/input/json-schema.ts';
import { queueName } from '../core/job/names.ts';
import type { SettingsInput } from '../core/settings/settings-input.ts';
import { settingsInput } from '../core/settings/settings-input.ts';

export interface NewQueueInput extends SettingsInput {
  name: string;
}

const settings = schemaOf(settingsInput);

export const newQueueInput: Check<NewQueueInput> = described(
  { ...settings, properties: { name: schemaOf(queueName), ...settings.properties }, required: ['name'] },
  (value: unknown, report: Report, path: string) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return report(path, `must be an object, not ${show(value)}`) as never;
    }
    const { name, ...rest } = value as Readonly<Record<string, unknown>>;
    if (name === undefined) report('name', 'is missing');
    else queueName(name, report, 'name');
    settingsInput(rest, report, path);
    return value as NewQueueInput;
  },
);
