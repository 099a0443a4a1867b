/**
 * The queues as RQ lists them. RQ's own queues are there from the start, before they have a job or a setting. A node
 * runs `cleaner` and `webhook` only with RQ's open access, because other users may have handlers of these names.
 */
import { RELAY_QUEUE, ROUTER_QUEUE } from '../../core/job/relay-request.ts';
import { DEFAULT_SETTINGS } from '../../core/settings/settings.ts';
import { CLEANER_QUEUE } from '../../node/queues/rq-cleaner.ts';
import { WEBHOOK_QUEUE } from '../../node/webhooks/rq-webhook-queue.ts';
import { RequestRefused } from '../../server/http/problem.ts';
import type { ServerContext } from '../../server/views/context.ts';
import { allQueues, noJobs, oneQueue } from '../../server/views/queue-views.ts';
import type { QueueView } from '../../wire/views.ts';

/** The part of the compat layer's options that decides which queues it has. */
interface Access {
  readonly isOpen: boolean;
}

export function ownQueues({ isOpen }: Access): readonly string[] {
  return isOpen ? [CLEANER_QUEUE, RELAY_QUEUE, ROUTER_QUEUE, WEBHOOK_QUEUE] : [RELAY_QUEUE, ROUTER_QUEUE];
}

/** By name. */
export async function rqQueues(access: Access, context: ServerContext): Promise<readonly QueueView[]> {
  const known = await allQueues(context);
  const missing = ownQueues(access).filter((name) => !known.some((queue) => queue.name === name));
  return [...known, ...missing.map(unused)].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the queue, or throws a 404 problem. */
export async function rqQueue(access: Access, context: ServerContext, name: string): Promise<QueueView> {
  return oneQueue(context, name).catch((error: unknown) => {
    if (ownQueues(access).includes(name) && error instanceof RequestRefused) return unused(name);
    throw error;
  });
}

function unused(name: string): QueueView {
  const from = {} as QueueView['from'];
  return { name, problem: null, counts: noJobs(name), settings: { ...DEFAULT_SETTINGS, env: [] }, from };
}
