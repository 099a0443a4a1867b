/**
 * The environment of a queue's script contains secrets. Callers below admin do not see it; settings that they write back
 * without it keep the stored environment.
 */
import type { QueueSettings } from '../../core/settings/settings.ts';

type Settings = Partial<QueueSettings>;

export function withoutSecrets({ env: _hidden, ...settings }: Settings): Settings {
  return settings;
}

export function withSecretsOf(before: Settings, given: Settings): Settings {
  return before.env === undefined || given.env !== undefined ? given : { ...given, env: before.env };
}
