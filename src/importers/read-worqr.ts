/** Reads the keys of Worqr. A task is a text in a list without an id; its id is derived from its queue and text. */
import { createHash } from 'node:crypto';
import type { ForeignJob, ForeignKeys, ForeignStore } from './foreign-job.ts';
import { DEFAULT_JOB, ONLY_JOBS } from './foreign-job.ts';

export async function readWorqr(keys: ForeignKeys, prefix = 'worqr'): Promise<ForeignStore> {
  const jobs: ForeignJob[] = [];
  for (const key of await keys.keys(`${prefix}:queues:`)) {
    const queue = key.slice(`${prefix}:queues:`.length);
    jobs.push(...waitingJobs(queue, await keys.list(key)));
  }
  for (const key of await keys.keys(`${prefix}:processes:`)) {
    const name = key.slice(`${prefix}:processes:`.length);
    const queue = name.slice(0, name.lastIndexOf('_'));
    for (const task of await keys.list(key))
      jobs.push({ ...jobOf(queue, task, 0, 'running'), id: `worqr-${name.slice(name.lastIndexOf('_') + 1)}` });
  }
  const locks = await keys.keys(`${prefix}:uniqueTasks:`);
  const unmapped =
    locks.length === 0 ? [] : [`${locks.length} locks of unique tasks: use a unique key of the job instead`];
  return { jobs, ...ONLY_JOBS, unmapped };
}

/** Tasks enter at the head and leave at the tail. Equal tasks are numbered by their position among their equals. */
function waitingJobs(queue: string, tasks: readonly string[]): readonly ForeignJob[] {
  const counts = new Map<string, number>();
  return tasks.toReversed().map((task) => {
    const equals = counts.get(task) ?? 0;
    counts.set(task, equals + 1);
    return jobOf(queue, task, equals, 'waiting');
  });
}

/** Gives the same task the same id in every import, even after other tasks have left the queue. */
function jobOf(queue: string, task: string, equals: number, state: ForeignJob['state']): ForeignJob {
  const digest = createHash('sha256').update(`${queue}\n${equals}\n${task}`).digest('hex').slice(0, 24);
  return { ...DEFAULT_JOB, id: `worqr-${digest}`, queue, data: JSON.stringify(task), state };
}
