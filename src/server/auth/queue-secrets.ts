/**
 * The environment of a queue's script holds secrets: whoever is no admin is not shown it, and what they write back without
 * it leaves it as it was.
 */
import type { QueueSettings } from '../../core/settings/settings.ts';

type Settings = Partial<QueueSettings>;

export function withoutSecrets({ env: _hidden, ...settings }: Settings): Settings {
  return settings;
}

export function withSecretsOf(before: Settings, given: Settings): Settings {
  return before.env === undefined || given.env !== undefined ? given : { ...given, env: before.env };
}
