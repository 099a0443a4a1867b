/**
 * Hooks, put together for a node: the lane that makes the calls, the watch that sees what a store cannot, and the word on
 * addresses that would never be called. It owns its way out; the node starts and stops it.
 */

import type { QueueSettings } from '../../core/settings/settings.ts';
import { DEFAULT_SETTINGS } from '../../core/settings/settings.ts';
import { DAY_MS } from '../../core/statistics/histogram.ts';
import type { Hook } from '../../core/webhooks/webhook.ts';
import { HOOKS_QUEUE } from '../../core/webhooks/webhook.ts';
import { destinationsOf } from '../../outbound/destinations.ts';
import { openOutbound } from '../../outbound/outbound.ts';
import { refusedBySight } from '../../outbound/outbound-address.ts';
import { storeIdentity } from '../../worker/outcome/store-identity.ts';
import type { NodeSettings } from '../node-settings.ts';
import type { SystemQueueParts } from '../queues/system-queue.ts';
import { SystemQueue } from '../queues/system-queue.ts';
import type { HookHost } from './webhook-attempt.ts';
import { hookAttempt } from './webhook-attempt.ts';
import { startHookWatch } from './webhook-watch.ts';

export interface HookParts extends SystemQueueParts {
  readonly settings: NodeSettings;
  /** When a job's script last wrote something; null where none of this node runs it. */
  outputAt(job: { readonly id: string; readonly attempt: number }): Promise<number | null>;
}

export interface Hooks {
  /** Why these addresses would not be called, as far as that can be seen; by their places. */
  problems(hooks: readonly Hook[]): readonly { readonly place: number; readonly message: string }[];
  stop(): Promise<void>;
}

/** For a day, as hookAttempt counts it; what is told stays a day, and what could not be told a week. */
const HOOK_DEFAULTS: Partial<QueueSettings> = {
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

export async function openHooks(parts: HookParts): Promise<Hooks> {
  const { store, settings, home } = parts;
  const destinations = () => destinationsOf(settings.outbound.allow);
  const outbound = openOutbound(destinations);
  const host: HookHost = {
    store,
    settings,
    outbound,
    home,
    source: await storeIdentity(store.records),
    now: Date.now,
  };
  const lane = new SystemQueue(parts, {
    queue: HOOKS_QUEUE,
    defaults: HOOK_DEFAULTS,
    run: (job, context) => hookAttempt(host, job, context),
  });
  await lane.start();
  const watch = startHookWatch(parts);
  return {
    problems: (hooks) =>
      hooks.flatMap(({ url }, place) => {
        const refused = refusedBySight(new URL(url), destinations());
        return refused === null ? [] : [{ place, message: refused.message }];
      }),
    async stop() {
      await watch.stop();
      await lane.stop();
      outbound.close();
    },
  };
}
