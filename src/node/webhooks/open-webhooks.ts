/**
 * Opens the webhooks of a node: the system queue that makes the calls, the monitor of silent and slow jobs, and a check
 * of addresses. It owns its outgoing connections; the node starts and stops it.
 */

import type { RunningJob } from '../../core/job/job.ts';
import type { Store } from '../../core/ports/store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { DEFAULT_SETTINGS } from '../../core/settings/settings.ts';
import { DAY_MS } from '../../core/statistics/histogram.ts';
import type { Webhook } from '../../core/webhooks/webhook.ts';
import { WEBHOOKS_QUEUE } from '../../core/webhooks/webhook.ts';
import { destinationsOf } from '../../outbound/destinations.ts';
import { openOutbound } from '../../outbound/outbound.ts';
import { refuseLiteralAddress } from '../../outbound/outbound-address.ts';
import { storeIdentity } from '../../worker/outcome/store-identity.ts';
import type { NodeSettings } from '../node-settings.ts';
import type { SystemQueueParts } from '../queues/system-queue.ts';
import { SystemQueue } from '../queues/system-queue.ts';
import type { WebhookHost } from './webhook-attempt.ts';
import { webhookAttempt } from './webhook-attempt.ts';
import { readWebhookRequest } from './webhook-body.ts';
import { startWebhookWatch } from './webhook-watch.ts';

export interface WebhookParts extends SystemQueueParts {
  readonly settings: NodeSettings;
  /** When a job's script last wrote output; null if no script of this node runs it. */
  outputAt(job: { readonly id: string; readonly attempt: number }): Promise<number | null>;
}

export interface Webhooks {
  /** Returns why addresses would not be called, as far as that is known before a call, by index. */
  problems(hooks: readonly Webhook[]): readonly { readonly place: number; readonly message: string }[];
  stop(): Promise<void>;
}

/** Retried for a day (see webhookAttempt). Delivered calls are kept for a day, undelivered ones for a week. */
const WEBHOOK_DEFAULTS: Partial<QueueSettings> = {
  concurrency: 32,
  retries: 1_000_000,
  maxCrashes: 1_000_000,
  backoff: { kind: 'exponential', delayMs: 5_000, maxMs: 3_600_000, jitter: 0.2, delaysMs: [] },
  retention: {
    ...DEFAULT_SETTINGS.retention,
    done: { ms: DAY_MS, count: 10_000, bytes: null },
    failed: { ms: 7 * DAY_MS, count: 10_000, bytes: null },
    cancelled: { ms: DAY_MS, count: 10_000, bytes: null },
  },
};

export async function openWebhooks(parts: WebhookParts): Promise<Webhooks> {
  const { store, settings, home } = parts;
  const destinations = () => destinationsOf(settings.outbound.allow);
  const outbound = openOutbound(destinations);
  const host: WebhookHost = {
    store,
    settings,
    outbound,
    home,
    source: await storeIdentity(store.records),
    now: Date.now,
  };
  const systemQueue = new SystemQueue(parts, {
    queue: WEBHOOKS_QUEUE,
    defaults: WEBHOOK_DEFAULTS,
    run: (job, context) => webhookAttempt(host, job, context),
    contextOf: (job) => contextOf(store, job),
  });
  await systemQueue.start();
  const watch = startWebhookWatch(parts);
  return {
    problems: (hooks) =>
      hooks.flatMap(({ url }, place) => {
        const refused = refuseLiteralAddress(new URL(url), destinations());
        return refused === null ? [] : [{ place, message: refused.message }];
      }),
    async stop() {
      await watch.stop();
      await systemQueue.stop();
      outbound.close();
    },
  };
}

/** A call belongs to the trace of the job that it reports. The store adds it, and does not copy the context. */
async function contextOf({ jobs }: Store, job: RunningJob): Promise<string | undefined> {
  const order = readWebhookRequest(job);
  if (order === null) return undefined;
  const [about = null] = await jobs.find([order.job]);
  return about?.policy.traceparent;
}
