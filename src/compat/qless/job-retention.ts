/**
 * `jobs-history` and `jobs-history-count`. qless deletes old jobs when another one is completed; here a completion runs
 * maintenance, which applies the retention of each queue. Time comes from the callers, so there is no timer.
 */
import type { Call } from './arguments.ts';
import { type Config, heartbeatMs, qlessQueues, readConfig } from './config.ts';

const STEP = 100;
/** Maintenance runs after this much time of the callers, or after so many completions. */
const EVERY_MS = 1_000;
const EVERY_COMPLETIONS = 20;
/** A count below this is kept exactly: maintenance runs after each completion. */
const EXACT_COUNT = 1_000;
const PAGE = 500;

export async function afterCompletion(call: Call): Promise<void> {
  const config = await readConfig(call);
  await deleteShortLived(call, config);
  const { maintenance } = call.session;
  maintenance.completions += 1;
  const isDue =
    Math.abs(call.nowMs - maintenance.lastAt) >= EVERY_MS ||
    maintenance.completions >= EVERY_COMPLETIONS ||
    Number(config['jobs-history-count']) < EXACT_COUNT;
  if (isDue) await maintainStore(call);
}

/** Maintenance of the store at the time of this call. */
async function maintainStore(call: Call): Promise<void> {
  const { maintenance } = call.session;
  maintenance.lastAt = call.nowMs;
  maintenance.completions = 0;
  await call.longhaul.maintain(STEP);
}

/** No queue may keep its jobs for less than a lease. So the layer itself deletes what qless keeps for a shorter time. */
async function deleteShortLived(call: Call, config: Config): Promise<void> {
  const historyMs = Number(config['jobs-history']) * 1_000;
  const heartbeats = Object.keys(config).filter((option) => /(^|-)heartbeat$/.test(option));
  if (heartbeats.every((option) => historyMs >= Number(config[option]) * 1_000)) return;
  const { jobs } = call.longhaul.store;
  for (const queue of await qlessQueues(call)) {
    if (historyMs >= heartbeatMs(config, queue)) continue;
    const ended = await jobs.insight({ kind: 'ended', queue, state: 'done', from: 0, limit: PAGE });
    const old = ended.filter(({ endedAt }) => endedAt <= call.nowMs - historyMs).map(({ id }) => id);
    if (old.length > 0) await jobs.delete(old);
  }
}
