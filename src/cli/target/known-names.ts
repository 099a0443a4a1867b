/** Finds queues by name. An unknown name is refused with the nearest known one. */
import { readdir } from 'node:fs/promises';
import { didYouMean } from '../../core/input/did-you-mean.ts';
import { SYSTEM_QUEUES } from '../../core/job/relay-request.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import { isDeleted } from '../../core/settings/delete-queue.ts';
import { GLOBAL_SETTINGS_KEY, QUEUE_RECORD, settingsIn } from '../../core/settings/settings.ts';
import type { Target } from './open-target.ts';

const MAX_QUEUES = 1_000;

/** Returns the sorted names of queues that hold jobs, have settings, or have a file in the data directory. */
export async function knownQueues({ longhaul, home }: Target): Promise<readonly string[]> {
  const [counts, records, files] = await Promise.all([
    longhaul.queues(),
    longhaul.store.records.list({ kind: QUEUE_RECORD, after: GLOBAL_SETTINGS_KEY, limit: MAX_QUEUES }),
    readdir(home.queues).catch(() => []),
  ]);
  const fromFiles = files.filter((file) => !/^\.|~$/.test(file)).map((file) => file.replace(/\.json$/, ''));
  const set = records.filter((record) => !isDeleted(settingsIn(record)));
  return [...new Set([...counts.map(({ queue }) => queue), ...set.map(({ key }) => key), ...fromFiles])].sort();
}

export async function requireQueue(target: Target, queue: string, hint = ''): Promise<void> {
  const known = await knownQueues(target);
  if (known.includes(queue) || SYSTEM_QUEUES.includes(queue)) return;
  const near =
    didYouMean(queue, known) ||
    (known.length === 0 ? '; there are no queues yet' : `; known queues: ${known.slice(0, 10).join(', ')}`);
  throw new LonghaulError('refused', `there is no queue ${queue}${hint}${near}`);
}
