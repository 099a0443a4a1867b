/** `longhaul add`: one job into a queue, with its files. */

import { isAddress } from '../../../core/job/relay-request.ts';
import type { HookInput } from '../../../core/webhooks/webhook-input.ts';
import { print, printJson, remark } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { checkQueueIsKnown } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { newJobOptions, parseJson } from './new-job.ts';
import { sendFiles } from './send-files.ts';

export async function add(call: Call): Promise<number> {
  return addTo(call, { isKnown: call.flag('create') });
}

/** `isKnown`: the queue is taken as it is named. */
export async function addTo(call: Call, { isKnown }: { readonly isKnown: boolean }): Promise<number> {
  const [queue, text, ...more] = call.positionals;
  if (queue === undefined || more.length > 0)
    throw call.wrong(queue === undefined ? 'QUEUE is missing' : 'too many words');
  const data = text === undefined ? null : parseJson('DATA', text);
  const addOne = async (target: Target): Promise<number> => {
    if (!isKnown && !isAddress(queue)) await checkQueueIsKnown(target, queue, ' (--create adds to it all the same)');
    const id = await addJob(call, target, { queue, data });
    if (call.flag('json')) printJson(await target.longhaul.find(id));
    else print(id);
    return 0;
  };
  return withTarget(call, addOne, { createsStore: 'in a data directory' });
}

/** Each a word: an address, or the events that it wants to hear and the address, `failed,slow=https://…`. */
function hooksGiven(call: Call): { readonly hooks?: readonly HookInput[] } {
  const hooks = call.list('hook').map((word): HookInput => {
    const [, events, url] = /^([a-z,]+)=(.*)$/.exec(word) ?? [];
    return url === undefined ? word : ({ url, on: (events ?? '').split(',') } as HookInput);
  });
  return hooks.length === 0 ? {} : { hooks };
}

/** With files it is a draft until they are all there, so that no attempt begins without one. */
async function addJob(call: Call, target: Target, { queue, data }: { queue: string; data: unknown }): Promise<string> {
  const files = call.list('attach');
  const after = call.list('after');
  const options = {
    ...newJobOptions(call, ['delay', 'unique']),
    ...(after.length > 0 && { dependsOn: after }),
    ...hooksGiven(call),
    ...(call.flag('force-remote') && { forceRemote: true }),
  };
  const isDraft = files.length > 0 || call.flag('draft');
  const job = await target.longhaul.queue(queue).add(data, isDraft ? { ...options, draft: true } : options);
  if (job.outcome === 'exists') remark(`longhaul: job ${job.id} was there before; nothing was changed`);
  if (job.outcome === 'replaced') remark(`longhaul: job ${job.id} waits with this unique key, and got the new data`);
  if (job.outcome === 'duplicate') remark(`longhaul: job ${job.id} holds this unique key; nothing was added`);
  if (job.outcome !== 'added' || files.length === 0) return job.id;
  await sendFiles(target, job.id, files);
  if (!call.flag('draft')) await target.longhaul.commit(job.id);
  return job.id;
}
