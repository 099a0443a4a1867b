/**
 * The body of a webhook call: the event with its values, and details of the job while it is still in the state of the
 * event. Never its data or result: these can be anything, of any size.
 */

import type { HistoryRow } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';
import { isEnded, isSuspended } from '../../core/job/job.ts';
import type { WebhookRequest } from '../../core/webhooks/webhook.ts';
import { WEBHOOK_ID_PREFIX, WEBHOOKS_QUEUE } from '../../core/webhooks/webhook.ts';
import type { NodeSettings } from '../node-settings.ts';
import { addressOf } from '../scripts/script-environment.ts';

/** Returns the call that a job of the queue `hooks` stands for; null for a job that no webhook added. */
export function readWebhookRequest({ id, queue, data }: Pick<Job, 'id' | 'queue' | 'data'>): WebhookRequest | null {
  return queue === WEBHOOKS_QUEUE && id.startsWith(WEBHOOK_ID_PREFIX) ? (JSON.parse(data) as WebhookRequest) : null;
}

/** `history` is needed for the event `waiting` only. */
export function webhookBody(
  order: WebhookRequest,
  { job, history }: { readonly job: Job | null; readonly history: readonly HistoryRow[] },
  settings: NodeSettings,
): string {
  const { event, job: id, queue, attempt, at, percent } = order;
  return JSON.stringify({
    type: `job.${event}`,
    timestamp: new Date(at).toISOString(),
    data: {
      job: id,
      queue,
      attempt,
      ...(percent !== undefined && { percent }),
      url: addressOf({ queue, id }, settings),
      ...(job !== null && namesOf(job)),
      ...(isUnchanged(order, job, history) && detailsOf(job)),
    },
  });
}

/** Whether the job is still in the state that the event reports. */
function isUnchanged(
  { event, at, attempt }: WebhookRequest,
  job: Job | null,
  history: readonly HistoryRow[],
): job is Job {
  if (job === null || job.attempt !== attempt) return false;
  // A job may have resumed since, and wait for another event.
  if (event === 'waiting') return isSuspended(job) && history.findLast((row) => row.event === 'suspended')?.at === at;
  return isEnded(job.state) ? job.state === event && job.endedAt === at : job.state === 'running';
}

const namesOf = ({ name, tags, createdAt }: Job): object => ({
  name,
  tags,
  createdAt: new Date(createdAt).toISOString(),
});

function detailsOf({ failure, forwardedTo, progress, suspension }: Job): object {
  const { event = null, until = null } = suspension ?? {};
  return {
    failure: failure === null ? null : { group: failure.group, message: failure.message },
    forwardedTo,
    progress: progress === null ? null : { percent: progress.percent, text: progress.text },
    ...(event !== null && { waitsFor: { event, until: until === null ? null : new Date(until).toISOString() } }),
  };
}
