/** Creates, changes and deletes queues, and changes settings for all queues, with the caller's permissions. */
import { deleteQueue as deleteFromStore, liveSettings, totalJobs } from '../../core/settings/delete-queue.ts';
import type { SettingName } from '../../core/settings/global-settings.ts';
import { withoutSetting } from '../../core/settings/global-settings.ts';
import type { SetSettings } from '../../core/settings/settings.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import type { SettingsInput } from '../../core/settings/settings-input.ts';
import { mergeSettings } from '../../core/settings/settings-input.ts';
import type { Webhook } from '../../core/webhooks/webhook.ts';
import { CODE_SETTINGS, roleForSettings } from '../auth/rights.ts';
import { RequestRefused, refusedReply, refuseRequest } from '../http/problem.ts';
import type { Call } from '../http/route.ts';
import { oneQueue } from './queue-views.ts';
import { mustBeCallable } from './webhook-addresses.ts';

type AuthorizedCall = Pick<Call, 'context' | 'may'>;

export async function changeQueue(call: AuthorizedCall, queue: string, input: SettingsInput): Promise<void> {
  mayChange(call, await settingsNow(call, queue), input);
  mustBeCallable(call.context, hooksOf(input));
  await call.context.settings.change(queue, input);
}

/** Removes a setting, which is then inherited. */
export async function unsetSetting(call: AuthorizedCall, queue: string, name: SettingName): Promise<void> {
  const before = await settingsNow(call, queue);
  mayReplace(call, before, withoutSetting(before, name));
  await call.context.settings.unset(queue, name);
}

export async function createQueue(call: AuthorizedCall, queue: string, input: SettingsInput): Promise<void> {
  mayChange(call, {}, input);
  mustBeCallable(call.context, hooksOf(input));
  const { shared } = await call.context.settings.layers(queue);
  const value = JSON.stringify(mergeSettings({}, input, shared));
  const { records } = call.context.store;
  const record = await records.get(QUEUE_RECORD, queue);
  // A deleted queue has a tombstone record, which is overwritten.
  const ifVersion = liveSettings(record) === undefined ? (record?.version ?? 0) : 0;
  const put = await records.put({ kind: QUEUE_RECORD, key: queue, value, ifVersion });
  if (!put.ok) throw refuseRequest('version-conflict', `queue ${queue} already exists: use PATCH to change it`);
}

function hooksOf({ hooks }: SettingsInput): readonly Webhook[] {
  return hooks === undefined ? [] : (mergeSettings({}, { hooks }).hooks ?? []);
}

export async function deleteQueue(call: AuthorizedCall, queue: string, withJobs: boolean): Promise<void> {
  const { counts } = await oneQueue(call.context, queue);
  const { store, node } = call.context;
  mayReplace(call, await settingsNow(call, queue), {});
  if (node?.fileQueues().has(queue) === true)
    throw refuseRequest(
      'wrong-state',
      `queue ${queue} is defined by a file in the directory of queues: remove the file`,
    );
  if (totalJobs(counts) > 0 && !withJobs)
    throw refuseRequest(
      'wrong-state',
      `queue ${queue} has ${totalJobs(counts)} jobs: use jobs=true to delete them too`,
    );
  const deleted = await deleteFromStore(store, queue);
  if (!deleted.ok) throw new RequestRefused(refusedReply(deleted.refusal), deleted.refusal.message);
}

async function settingsNow({ context }: AuthorizedCall, queue: string): Promise<SetSettings> {
  return liveSettings(await context.store.records.get(QUEUE_RECORD, queue)) ?? {};
}

/** Checks a partial change: settings that are not in the input stay. */
function mayChange(call: AuthorizedCall, before: SetSettings, input: SettingsInput): void {
  const named = CODE_SETTINGS.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]);
  mayReplace(call, before, { ...before, ...Object.fromEntries(named) });
}

function mayReplace(call: AuthorizedCall, before: SetSettings, after: SetSettings): void {
  const role = roleForSettings(before, after);
  if (!call.may(role))
    throw refuseRequest(
      'forbidden',
      `${CODE_SETTINGS.join(', ')} decide which code a queue runs: changing them requires the role ${role}`,
    );
}
