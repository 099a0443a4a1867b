/** Worqr's keys. A task is a text in a list and has no id of its own: it gets one from its queue and its text. */
import { createHash } from 'node:crypto';
import type { ForeignJob, ForeignKeys, ForeignStore } from './foreign-job.ts';
import { JOBS_ALONE, PLAIN_JOB } from './foreign-job.ts';

export async function readWorqr(keys: ForeignKeys, prefix = 'worqr'): Promise<ForeignStore> {
  const jobs: ForeignJob[] = [];
  for (const key of await keys.keys(`${prefix}:queues:`)) {
    const queue = key.slice(`${prefix}:queues:`.length);
    jobs.push(...inLine(queue, await keys.list(key)));
  }
  for (const key of await keys.keys(`${prefix}:processes:`)) {
    const name = key.slice(`${prefix}:processes:`.length);
    const queue = name.slice(0, name.lastIndexOf('_'));
    for (const task of await keys.list(key))
      jobs.push({ ...jobOf(queue, task, 0, 'running'), id: `worqr-${name.slice(name.lastIndexOf('_') + 1)}` });
  }
  const locks = await keys.keys(`${prefix}:uniqueTasks:`);
  const unmapped =
    locks.length === 0 ? [] : [`${locks.length} locks of unique tasks: give the job a unique key instead`];
  return { jobs, ...JOBS_ALONE, unmapped };
}

/** Enqueued at the head, taken from the tail. Of equal tasks each is told by how many of them stand before it. */
function inLine(queue: string, tasks: readonly string[]): readonly ForeignJob[] {
  const counts = new Map<string, number>();
  return tasks.toReversed().map((task) => {
    const equals = counts.get(task) ?? 0;
    counts.set(task, equals + 1);
    return jobOf(queue, task, equals, 'waiting');
  });
}

/** The same task is the same job, however often it is read and whatever has left the line before it. */
function jobOf(queue: string, task: string, equals: number, state: ForeignJob['state']): ForeignJob {
  const digest = createHash('sha256').update(`${queue}\n${equals}\n${task}`).digest('hex').slice(0, 24);
  return { ...PLAIN_JOB, id: `worqr-${digest}`, queue, data: JSON.stringify(task), state };
}
