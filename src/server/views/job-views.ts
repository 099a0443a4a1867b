/** Jobs as the API shows them, with labels, which depend on the settings of their queues. */
import type { Job } from '../../core/job/job.ts';
import { withWaitReasons } from '../../core/limits/throttle-views.ts';
import { refuse } from '../../core/ports/refusal.ts';
import { DEFAULT_SETTINGS } from '../../core/settings/settings.ts';
import type { JobView } from '../../wire/job-view.ts';
import { viewOf } from '../../wire/job-view.ts';
import { RequestRefused, refusedReply } from '../http/problem.ts';
import type { ServerContext } from './context.ts';

export async function viewsOf(context: ServerContext, jobs: readonly Job[]): Promise<readonly JobView[]> {
  const queues = [...new Set(jobs.map(({ queue }) => queue))];
  const read = queues.map(async (queue) => [queue, await context.settings.read(queue)] as const);
  const settings = new Map(await Promise.all(read));
  const now = context.now();
  const settingsFor = (queue: string) => settings.get(queue) ?? DEFAULT_SETTINGS;
  const views = jobs.map((job) => viewOf(job, settingsFor(job.queue), now));
  return withWaitReasons(context.store.jobs, views, settingsFor);
}

/** Returns the job, or throws a 404 problem. */
export async function findJob({ store }: ServerContext, id: string): Promise<Job> {
  const [job] = await store.jobs.find([id]);
  if (job !== null && job !== undefined) return job;
  const { refusal } = refuse('not-found', `job ${id}`);
  throw new RequestRefused(refusedReply(refusal), refusal.message);
}

export async function findView(context: ServerContext, id: string): Promise<JobView> {
  const [view] = await viewsOf(context, [await findJob(context, id)]);
  if (view === undefined) throw new Error('viewsOf must return a view for every job');
  return view;
}
