/** Parses `SETTING=VALUE` arguments: JSON values or plain text; `limits.memory=2GB` sets a field of `limits`. */
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import type { SettingsInput } from '../../../core/settings/settings-input.ts';
import type { Args } from '../../table/args.ts';
import { UsageError } from '../../table/command.ts';
import { SETTINGS } from './setting-values.ts';

/** Settings that are texts, even if the value looks like a number. */
const TEXTS = new Set(['note', 'script', 'user', 'umask', 'exhaustedGroup']);

/** Checks the names of settings; the core checks their values. */
export function parseSettings(args: Args, assignments: readonly string[]): SettingsInput {
  const settings: Record<string, unknown> = {};
  for (const assignment of assignments) {
    const at = assignment.indexOf('=');
    if (at < 1) throw args.usageError(`expected SETTING=VALUE, not ${assignment}`);
    const path = assignment.slice(0, at).split('.');
    const [name = ''] = path;
    if (!Object.hasOwn(SETTINGS, name)) throw unknownSetting(name);
    setAt(settings, path, parseValue(name, assignment.slice(at + 1)));
  }
  return settings as SettingsInput;
}

function unknownSetting(name: string): UsageError {
  const names = Object.keys(SETTINGS);
  return new UsageError(`there is no setting ${name}${didYouMean(name, names) || `; settings: ${names.join(', ')}`}`);
}

function parseValue(name: string, text: string): unknown {
  if (TEXTS.has(name)) return text === 'null' ? null : text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function setAt(target: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    target[first] = value;
    return;
  }
  const current = target[first];
  const nested = typeof current === 'object' && current !== null ? (current as Record<string, unknown>) : {};
  target[first] = nested;
  setAt(nested, rest, value);
}
