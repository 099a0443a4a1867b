/** RQ's `post_run_webhook`: a form with the message as JSON, unsigned, as RQ's receivers expect it. */

import type { Job } from '../../core/job/job.ts';
import { ENDED_STATES } from '../../core/job/job.ts';
import type { Webhook, WebhookRequest } from '../../core/webhooks/webhook.ts';
import type { NodeSettings } from '../node-settings.ts';
import { messageOf } from '../queues/rq-view.ts';
import { addressOf } from '../scripts/script-environment.ts';

const STATES = { done: 'done', failed: 'err', cancelled: 'err' } as const;

/** Returns the part of a job's policy for `post_run_webhook`. */
export function rqHooks(addresses: readonly string[] = []): { readonly hooks?: readonly Webhook[] } {
  return addresses.length === 0 ? {} : { hooks: addresses.map((url) => ({ url, on: ENDED_STATES, format: 'rq' })) };
}

/** Returns the message; if the job was deleted, its state from the webhook. */
export function rqMessageText(order: WebhookRequest, job: Job | null, settings: NodeSettings): string {
  const msg_id = addressOf({ queue: order.queue, id: order.job }, settings);
  const state = order.event in STATES ? STATES[order.event as keyof typeof STATES] : 'run';
  const known =
    job === null
      ? { state, status: state, path: msg_id }
      : messageOf(job, { url: settings.url, path: msg_id, attachments: {} });
  return JSON.stringify({ ...known, msg_id, child_pid: job?.lease?.pid ?? null });
}

export function rqForm(message: string): string {
  return new URLSearchParams({ x_format: 'json', payload: message }).toString();
}
