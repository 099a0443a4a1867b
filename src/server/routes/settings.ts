/** Settings for all queues, which a queue inherits unless it sets its own; and resetting a setting of all or one queue. */
import { queueName } from '../../core/job/names.ts';
import { explainSettings, QUEUE_ONLY_SETTINGS, settingName } from '../../core/settings/global-settings.ts';
import { DEFAULT_SETTINGS, GLOBAL_SETTINGS_KEY } from '../../core/settings/settings.ts';
import { keyOfSetting, settingsInput } from '../../core/settings/settings-input.ts';
import { type SettingView, settingsView } from '../../wire/insight-views.ts';
import { queueView } from '../../wire/views.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { ServerContext } from '../views/context.ts';
import { changeQueue, unsetSetting } from '../views/queue-changes.ts';
import { oneQueue } from '../views/queue-views.ts';

export const settingsRoutes: readonly Route[] = [
  route({
    name: 'settings',
    method: 'GET',
    path: '/api/settings',
    about: 'Lists the settings of queues: meaning, default, and the value for all queues.',
    role: 'read',
    answer: settingsView,
    handle: async ({ context }) => json(await globalSettings(context)),
  }),
  route({
    name: 'settings.change',
    method: 'PATCH',
    path: '/api/settings',
    about:
      'Changes settings for all queues that do not set their own. Takes effect at once on all nodes. Settings that belong to one queue are refused.',
    role: 'operate',
    body: settingsInput,
    answer: settingsView,
    handle: async (call) => {
      await changeQueue(call, GLOBAL_SETTINGS_KEY, call.body);
      return json(await globalSettings(call.context));
    },
  }),
  route({
    name: 'settings.unset',
    method: 'DELETE',
    path: '/api/settings/{setting}',
    about: 'Resets a setting for all queues to its default.',
    role: 'operate',
    params: { setting: settingName },
    answer: settingsView,
    handle: async (call) => {
      await unsetSetting(call, GLOBAL_SETTINGS_KEY, call.params.setting);
      return json(await globalSettings(call.context));
    },
  }),
  route({
    name: 'queues.unset',
    method: 'DELETE',
    path: '/api/queues/{queue}/settings/{setting}',
    about: 'Resets a setting of a queue: the queue inherits it again.',
    role: 'operate',
    params: { queue: queueName, setting: settingName },
    answer: queueView,
    handle: async (call) => {
      const { queue, setting } = call.params;
      await oneQueue(call.context, queue);
      await unsetSetting(call, queue, setting);
      return json(await oneQueue(call.context, queue));
    },
  }),
];

/** The environment is shown as names only, since the values are secrets. */
async function globalSettings({ settings }: ServerContext): Promise<{ readonly settings: readonly SettingView[] }> {
  const explained = explainSettings(await settings.layers(GLOBAL_SETTINGS_KEY));
  return {
    settings: explained.map(({ value, ...setting }) => ({
      ...setting,
      key: keyOfSetting(setting.name),
      default: DEFAULT_SETTINGS[keyOfSetting(setting.name)],
      value: setting.name === 'env' ? Object.keys(value as object) : value,
      alone: QUEUE_ONLY_SETTINGS[setting.name] ?? null,
    })),
  };
}
