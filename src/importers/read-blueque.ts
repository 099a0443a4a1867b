/** Reads the keys of Blueque: lists hold the order of the pending tasks, a hash for each task everything else. */
import type { ForeignJob, ForeignKeys, ForeignStore } from './foreign-job.ts';
import { DEFAULT_JOB, ONLY_JOBS, parseSeconds } from './foreign-job.ts';

const STATES: Readonly<Record<string, ForeignJob['state']>> = {
  scheduled: 'waiting',
  pending: 'waiting',
  reserved: 'running',
  started: 'running',
  complete: 'done',
  failed: 'failed',
};
const TASK = 'blueque_task_';

export async function readBlueque(keys: ForeignKeys): Promise<ForeignStore> {
  const unmapped: string[] = [];
  const waiting = await pendingIds(keys);
  const ids = (await keys.keys(TASK)).map((key) => key.slice(TASK.length));
  const ordered = [...waiting.filter((id) => ids.includes(id)), ...ids.filter((id) => !waiting.includes(id))];
  const jobs: ForeignJob[] = [];
  for (const id of ordered) {
    const task = await keys.hash(TASK + id);
    // A bridge has moved it (follow/).
    if (task['node'] === 'longhaul') continue;
    const job = readTask(id, task);
    if (typeof job === 'string') unmapped.push(job);
    else jobs.push(job);
  }
  return { jobs, ...ONLY_JOBS, unmapped };
}

/** Returns the ids of pending tasks, next first: tasks enter a list at its head and leave it at its tail. */
async function pendingIds(keys: ForeignKeys): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const [queue] of await keys.sorted('blueque_queues'))
    ids.push(...[...(await keys.list(`blueque_pending_tasks_${queue}`))].reverse());
  return ids;
}

/** Returns the job of a hash, or a text that says why there is none. */
export function readTask(id: string, task: Readonly<Record<string, string>>): ForeignJob | string {
  const state = STATES[task['status'] ?? ''];
  const queue = task['queue'];
  if (state === undefined || queue === undefined)
    return `task ${id}: it has no queue or an unknown status (${task['status']})`;
  const updated = parseSeconds(task['updated']);
  const isEnded = state === 'done' || state === 'failed';
  return {
    ...DEFAULT_JOB,
    id,
    queue,
    state,
    data: JSON.stringify(task['parameters'] ?? ''),
    createdAt: parseSeconds(task['created']),
    // A due task has its place in the list of pending tasks.
    runAt: task['status'] === 'scheduled' ? parseSeconds(task['eta']) : null,
    endedAt: isEnded ? updated : null,
    attempt: isEnded ? 1 : 0,
    result: task['result'] === undefined ? null : JSON.stringify(task['result']),
    failure: state === 'failed' ? { group: 'failed', message: task['error'] ?? '', detail: null } : null,
  };
}
