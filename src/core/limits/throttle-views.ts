/**
 * Views of throttles, and the call that sets them, over the two ports: the maxima are records, the use is an insight.
 */
import { checked } from '../input/check.ts';
import type { Job } from '../job/job.ts';
import type { Labelled } from '../job/label.ts';
import { withWaitReason } from '../job/label.ts';
import type { ThrottleUse } from '../ports/insight.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { Store } from '../ports/store.ts';
import type { ThrottleInput } from '../settings/limit-input.ts';
import { throttleName, throttleSettings } from '../settings/limit-input.ts';
import type { QueueSettings, Rate } from '../settings/settings.ts';
import type { Throttle, ThrottleSettings } from './bucket.ts';
import { NO_THROTTLE, readBucket, throttleIn } from './bucket.ts';
import { isLimited, namedAddress, readAddress, THROTTLE_RECORD } from './throttle.ts';

/**
 * A named throttle has a name; the throttle of a queue's key has its queue and the key. A named throttle with a rate by
 * key has an entry of its own for each key that lets no job start now.
 */
export interface ThrottleView extends Omit<ThrottleUse, 'address'> {
  readonly name: string | null;
  readonly queue: string | null;
  readonly key: string | null;
  /** The rate of a named throttle. */
  readonly rate: Rate | null;
  /** The data fields that make the key of a job for the rate. */
  readonly by: readonly string[];
  /** The data field that has the cost of a job. */
  readonly cost: string | null;
}

const MAX_NAMED = 10_000;
const UNUSED = { held: 0, waiting: 0, nextStartAt: null, holders: [] };

/** Lists every throttle that has a maximum or is in use, named ones first. */
export async function listThrottles({ jobs, records }: Store): Promise<readonly ThrottleView[]> {
  const [uses, named] = await Promise.all([
    jobs.insight({ kind: 'throttles' }),
    records.list({ kind: THROTTLE_RECORD, limit: MAX_NAMED }),
  ]);
  const used = new Set(uses.map(({ address }) => address));
  const settings = new Map(named.map((record) => [record.key, throttleIn(record)]));
  const idle = [...settings]
    .filter(([name]) => !used.has(namedAddress(name)))
    .map(([name, { max }]) => ({ address: namedAddress(name), max, ...UNUSED }));
  const views = [...uses, ...idle].map((use) => viewOf(use, settings));
  return [...views.filter(({ name }) => name !== null), ...views.filter(({ name }) => name === null)];
}

function viewOf({ address, ...use }: ThrottleUse, settings: ReadonlyMap<string, Throttle>): ThrottleView {
  const what = readAddress(address);
  const view = { name: null, queue: null, key: null, ...use };
  if ('queue' in what) return { ...view, rate: null, by: [], cost: null, ...what };
  const { name, key } = readBucket(address);
  const { rate, by, cost } = settings.get(name) ?? NO_THROTTLE;
  return { ...view, name, key: key === '' ? null : key, rate, by, cost };
}

/**
 * Sets the limits of a named throttle: how many jobs may hold a slot of it at once, and how much may start in a period.
 * Null removes it. A change fills its buckets and ends its pause; equal settings change nothing.
 */
export async function setThrottle(store: Store, name: string, limits: number | ThrottleInput | null): Promise<void> {
  const key = checked('throttle name', name, throttleName);
  if (limits === null) await store.records.delete(THROTTLE_RECORD, key);
  else await putThrottle(store, key, checked('throttle', limits, throttleSettings));
}

/** Stores checked settings of a throttle. */
export async function putThrottle({ records }: Store, key: string, settings: ThrottleSettings): Promise<void> {
  const value = JSON.stringify(settings);
  const known = await records.get(THROTTLE_RECORD, key);
  if (known?.value !== value) await records.put({ kind: THROTTLE_RECORD, key, value });
}

/**
 * Sets `throttled` and the wait reason if only a limit holds a job back. Asks the store only about jobs with a limit.
 */
export async function withWaitReasons<View extends Pick<Job, 'id' | 'queue' | 'policy'> & Labelled>(
  jobs: Pick<JobStore, 'insight'>,
  views: readonly View[],
  settingsOf: (queue: string) => QueueSettings,
): Promise<readonly View[]> {
  const mayWait = (view: View): boolean => view.label === 'ready' && isLimited(view, settingsOf(view.queue));
  const ids = views.filter(mayWait).map(({ id }) => id);
  if (ids.length === 0) return views;
  const found = await jobs.insight({ kind: 'brakes', ids });
  const reasons = new Map(ids.map((id, index) => [id, found[index] ?? null]));
  return views.map((view) => ({ ...view, ...withWaitReason(view, reasons.get(view.id) ?? null) }));
}
