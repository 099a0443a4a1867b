/**
 * Opens RQ's queues `cleaner` and `webhook` of a node with RQ's open access. Both are common names, so other nodes do
 * not run them, and a script of the same name has precedence: an installation of RQ brings its own.
 */
import { destinationsOf } from '../../outbound/destinations.ts';
import { openOutbound } from '../../outbound/outbound.ts';
import type { NodeSettings } from '../node-settings.ts';
import { rqWebhookAttempt, WEBHOOK_QUEUE } from '../webhooks/rq-webhook-queue.ts';
import { CLEANER_QUEUE, cleanerAttempt } from './rq-cleaner.ts';
import { SystemQueue, type SystemQueueParts } from './system-queue.ts';

export interface RqQueueParts extends SystemQueueParts {
  readonly settings: NodeSettings;
  /** Whether a script of this node runs the queue. */
  hasQueue(name: string): boolean;
}

/** A message ends by its own count of resends. */
const DEFAULTS = { concurrency: 1, retries: 0 };

export async function openRqQueues(parts: RqQueueParts): Promise<{ stop(): Promise<void> }> {
  const { store, settings, hasQueue } = parts;
  const outbound = openOutbound(() => destinationsOf(settings.outbound.allow));
  const cleaner = new SystemQueue(parts, {
    queue: CLEANER_QUEUE,
    defaults: DEFAULTS,
    isReplaced: () => hasQueue(CLEANER_QUEUE),
    run: (job) => cleanerAttempt(store, job, Date.now()),
  });
  const webhook = new SystemQueue(parts, {
    queue: WEBHOOK_QUEUE,
    defaults: DEFAULTS,
    isReplaced: () => hasQueue(WEBHOOK_QUEUE),
    run: (job, context) => rqWebhookAttempt({ outbound, settings }, job, context),
  });
  for (const queue of [cleaner, webhook]) await queue.start();
  return {
    async stop() {
      for (const queue of [cleaner, webhook]) await queue.stop();
      outbound.close();
    },
  };
}
