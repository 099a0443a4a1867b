/** The messages of a queue in one of RQ's states, as the store has them. Bounded: RQ scanned everything. */
import type { Job, JobState } from '../../core/job/job.ts';
import { RQ_STATES, type RqState, rqStateOf } from '../../node/queues/rq-view.ts';
import type { ServerContext } from '../../server/views/context.ts';

const MOST = 1_000;
const PAGE = 200;
const STATES: Readonly<Record<RqState, readonly JobState[]>> = {
  prep: ['draft'],
  que: ['waiting'],
  run: ['running'],
  done: ['done'],
  relayed: ['done'],
  err: ['failed', 'cancelled'],
};

/** The newest first. */
export async function listState(
  { store }: ServerContext,
  queue: string,
  state: RqState,
  most = MOST,
): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  for (const each of STATES[state]) {
    for (let after: string | undefined; ; ) {
      const page = await store.jobs.list({ queue, state: each, order: 'newest', limit: PAGE, ...(after && { after }) });
      jobs.push(...page.jobs.filter((job) => rqStateOf(job) === state));
      if (page.next === null || jobs.length >= most) break;
      after = page.next;
    }
  }
  return jobs.slice(0, most);
}

/** The messages in all states. One that changes its state between two reads is there once, as it was read last. */
export async function listStates(context: ServerContext, queue: string): Promise<readonly Job[]> {
  const jobs = new Map<string, Job>();
  for (const state of RQ_STATES) for (const job of await listState(context, queue, state)) jobs.set(job.id, job);
  return [...jobs.values()];
}

export async function newestDone(context: ServerContext, queue: string, limit: number): Promise<readonly string[]> {
  return (await listState(context, queue, 'done', limit)).map(({ id }) => id);
}
