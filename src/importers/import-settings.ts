/** Imports what another system has besides jobs: throttles, settings and tracked jobs. Existing records stay unchanged. */
import { TRACKED_RECORD, track } from '../core/job/tracked-jobs.ts';
import { THROTTLE_RECORD } from '../core/limits/throttle.ts';
import { setThrottle } from '../core/limits/throttle-views.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';
import type { ForeignSettings } from './foreign-job.ts';
import type { ImportOptions, ImportResult } from './import-jobs.ts';

/** Runs after the import of jobs, because only an existing job can be tracked. Adds failures to `unmapped`. */
export async function importSettings(
  { tracked, throttles, records }: ForeignSettings,
  { store, isDryRun }: Pick<ImportOptions, 'store' | 'isDryRun'>,
  unmapped: string[],
): Promise<ImportResult['besides']> {
  const isNew = async (kind: string, key: string): Promise<boolean> => (await store.records.get(kind, key)) === null;
  const counts = { tracked: 0, throttles: 0, records: 0 };
  for (const { name, max } of throttles)
    if ((await isNew(THROTTLE_RECORD, name)) && (isDryRun || (await addThrottle(store, { name, max }, unmapped))))
      counts.throttles += 1;
  for (const record of records) {
    if (!(await isNew(record.kind, record.key))) continue;
    counts.records += 1;
    if (!isDryRun) await store.records.put({ ...record, ifVersion: 0 });
  }
  for (const id of tracked)
    if ((await isNew(TRACKED_RECORD, id)) && (isDryRun || (await track(store, id)).ok)) counts.tracked += 1;
  return counts;
}

async function addThrottle(
  store: Store,
  { name, max }: { name: string; max: number },
  unmapped: string[],
): Promise<boolean> {
  try {
    await setThrottle(store, name, max);
    return true;
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    unmapped.push(`throttle ${name}: ${error.message}`);
    return false;
  }
}
