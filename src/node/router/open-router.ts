/** Opens the system queue `rq_router` of a node. */
import { join } from 'node:path';
import { ROUTER_QUEUE } from '../../core/job/relay-request.ts';
import type { SystemQueueParts } from '../queues/system-queue.ts';
import { SystemQueue } from '../queues/system-queue.ts';
import { RELAY_DEFAULTS } from '../relay/open-relay.ts';
import type { Duplicator } from '../scripts/duplicate.ts';
import type { RouterHost } from './router-attempt.ts';
import { routerAttempt } from './router-attempt.ts';
import { RouterFile } from './router-file.ts';

export interface RouterParts extends SystemQueueParts, Duplicator, Pick<RouterHost, 'upOf'> {}

export interface Router {
  stop(): Promise<void>;
}

export const ROUTER_FILE = 'router.json';

export async function openRouter(parts: RouterParts): Promise<Router> {
  const file = new RouterFile(join(parts.home, ROUTER_FILE), parts.onTrouble);
  const host: RouterHost = { ...parts, rules: () => file.rules(), random: Math.random };
  const systemQueue = new SystemQueue(parts, {
    queue: ROUTER_QUEUE,
    defaults: RELAY_DEFAULTS,
    run: (job, context) => routerAttempt(host, job, context),
  });
  await systemQueue.start();
  return systemQueue;
}
