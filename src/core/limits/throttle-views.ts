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
import { slotCount, throttleName } from '../settings/limit-input.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { isLimited, namedAddress, readAddress, THROTTLE_RECORD } from './throttle.ts';

/** A named throttle has a name; the throttle of a key has its queue and the key. */
export interface ThrottleView extends Omit<ThrottleUse, 'address'> {
  readonly name: string | null;
  readonly queue: string | null;
  readonly key: string | null;
}

const MAX_NAMED = 10_000;
const UNUSED = { held: 0, waiting: 0, holders: [] };

/** Lists every throttle that has a maximum or is in use, named ones first. */
export async function listThrottles({ jobs, records }: Store): Promise<readonly ThrottleView[]> {
  const [uses, named] = await Promise.all([
    jobs.insight({ kind: 'throttles' }),
    records.list({ kind: THROTTLE_RECORD, limit: MAX_NAMED }),
  ]);
  const used = new Set(uses.map(({ address }) => address));
  const idle = named
    .filter(({ key }) => !used.has(namedAddress(key)))
    .map(({ key, value }) => ({ address: namedAddress(key), max: maxIn(value), ...UNUSED }));
  const views = [...uses, ...idle].map(viewOf);
  return [...views.filter(({ name }) => name !== null), ...views.filter(({ name }) => name === null)];
}

const maxIn = (value: string): number => (JSON.parse(value) as { max: number }).max;

function viewOf({ address, ...use }: ThrottleUse): ThrottleView {
  return { name: null, queue: null, key: null, ...readAddress(address), ...use };
}

/** Sets how many jobs may hold a slot of a named throttle at once; null removes the maximum. */
export async function setThrottle({ records }: Store, name: string, max: number | null): Promise<void> {
  const key = checked('throttle name', name, throttleName);
  if (max === null) await records.delete(THROTTLE_RECORD, key);
  else {
    const value = JSON.stringify({ max: checked('maximum of a throttle', max, slotCount) });
    await records.put({ kind: THROTTLE_RECORD, key, value });
  }
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
