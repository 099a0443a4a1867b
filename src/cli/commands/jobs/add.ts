/** `longhaul add`: adds one job to a queue, with its files. */

import { isAddress } from '../../../core/job/relay-request.ts';
import type { WebhookInput } from '../../../core/webhooks/webhook-input.ts';
import { print, printJson, printNotice } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { fullId } from '../../target/job-ids.ts';
import { requireQueue } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { newJobOptions, parseJson } from './new-job.ts';
import { sendFiles } from './send-files.ts';

export async function add(args: Args): Promise<number> {
  return addTo(args, { isKnown: args.flag('create') });
}

/** `isKnown`: do not check that the queue exists. */
export async function addTo(args: Args, { isKnown }: { readonly isKnown: boolean }): Promise<number> {
  const [queue, text, ...more] = args.positionals;
  if (queue === undefined || more.length > 0)
    throw args.usageError(queue === undefined ? 'QUEUE is missing' : 'too many arguments');
  const data = text === undefined ? null : parseJson('DATA', text);
  const addOne = async (target: Target): Promise<number> => {
    if (!isKnown && !isAddress(queue)) await requireQueue(target, queue, ' (--create adds the job anyway)');
    const id = await addJob(args, target, { queue, data });
    if (args.flag('json')) printJson(await target.longhaul.find(id));
    else print(id);
    return 0;
  };
  return withTarget(args, addOne, { createsStore: 'in a data directory' });
}

/** Parses each --hook: a URL, or event names and a URL, such as `failed,slow=https://…`. */
function parseWebhooks(args: Args): { readonly hooks?: readonly WebhookInput[] } {
  const hooks = args.list('hook').map((text): WebhookInput => {
    const [, events, url] = /^([a-z,]+)=(.*)$/.exec(text) ?? [];
    return url === undefined ? text : ({ url, on: (events ?? '').split(',') } as WebhookInput);
  });
  return hooks.length === 0 ? {} : { hooks };
}

/** A job with files stays a draft until all files are attached, so that no attempt starts without one. */
async function addJob(args: Args, target: Target, { queue, data }: { queue: string; data: unknown }): Promise<string> {
  const files = args.list('attach');
  const after: string[] = [];
  for (const given of args.list('after')) after.push(await fullId(target, given));
  const options = {
    ...newJobOptions(args, ['delay', 'unique']),
    ...(after.length > 0 && { dependsOn: after }),
    ...parseWebhooks(args),
    ...(args.flag('force-remote') && { forceRemote: true }),
  };
  const isDraft = files.length > 0 || args.flag('draft');
  const job = await target.longhaul.queue(queue).add(data, isDraft ? { ...options, draft: true } : options);
  if (job.outcome === 'exists') printNotice(`longhaul: job ${job.id} exists already; nothing was changed`);
  if (job.outcome === 'replaced')
    printNotice(`longhaul: waiting job ${job.id} holds this unique key; its data was replaced`);
  if (job.outcome === 'duplicate') printNotice(`longhaul: job ${job.id} holds this unique key; nothing was added`);
  if (job.outcome !== 'added' || files.length === 0) return job.id;
  await sendFiles(target, job.id, files);
  if (!args.flag('draft')) await target.longhaul.commit(job.id);
  return job.id;
}
