/** `SETTING=VALUE` words as settings: JSON where it is JSON, else a text; `limits.memory=2GB` goes below `limits`. */
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import type { SettingsInput } from '../../../core/settings/settings-input.ts';
import type { Call } from '../../table/call.ts';
import { UsageError } from '../../table/command.ts';
import { SETTINGS } from './setting-lines.ts';

/** Texts, also when they look like a number. */
const TEXTS = new Set(['note', 'script', 'user', 'umask', 'exhaustedGroup']);

/** What each setting must be is for the core to say; here only its name is known. */
export function settingsGiven(call: Call, words: readonly string[]): SettingsInput {
  const given: Record<string, unknown> = {};
  for (const word of words) {
    const at = word.indexOf('=');
    if (at < 1) throw call.wrong(`${word} is no SETTING=VALUE`);
    const path = word.slice(0, at).split('.');
    const [name = ''] = path;
    if (!Object.hasOwn(SETTINGS, name)) throw unknown(name);
    putAt(given, path, valueOf(name, word.slice(at + 1)));
  }
  return given as SettingsInput;
}

function unknown(name: string): UsageError {
  const names = Object.keys(SETTINGS);
  return new UsageError(`there is no setting ${name}${didYouMean(name, names) || `; there are ${names.join(', ')}`}`);
}

function valueOf(name: string, text: string): unknown {
  if (TEXTS.has(name)) return text === 'null' ? null : text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function putAt(given: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    given[first] = value;
    return;
  }
  const below = given[first];
  const inside = typeof below === 'object' && below !== null ? (below as Record<string, unknown>) : {};
  given[first] = inside;
  putAt(inside, rest, value);
}
