/** Insight: statistics, throughput, retention, storage, tags, search and tracked jobs. */
import { object, text } from '../../core/input/check.ts';
import { jobId, queueName } from '../../core/job/names.ts';
import { searchJobs } from '../../core/job/search-jobs.ts';
import { track, trackedJobs, untrack } from '../../core/job/tracked-jobs.ts';
import type { QueueStorage, StoredSize } from '../../core/statistics/storage.ts';
import {
  prunableView,
  statisticsView,
  storageView,
  tagsView,
  throughputView,
  trackedView,
} from '../../wire/insight-views.ts';
import { STATISTICS_FILTER, seriesSpan } from '../../wire/port-checks.ts';
import { jobPage, jobView } from '../../wire/views.ts';
import { mustBeOk } from '../http/one-result.ts';
import { limitOf, pageLimit } from '../http/query-checks.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { ServerContext } from '../views/context.ts';
import { findView, viewsOf } from '../views/job-views.ts';
import { storeNow } from '../views/node-of.ts';

const params = { id: jobId };
const emptyBody = object({});
const searchQuery = { q: text({ max: 256 }), queue: queueName, after: text({ max: 1_024 }), limit: pageLimit };

export const insightRoutes: readonly Route[] = [
  route({
    name: 'statistics',
    method: 'GET',
    path: '/api/statistics',
    about:
      'Returns statistics by UTC day and by queue, tag or worker: wait times, run times, retries, failures and interruptions.',
    role: 'read',
    query: STATISTICS_FILTER,
    answer: statisticsView,
    handle: async ({ query, context }) =>
      json({ days: await context.store.jobs.insight({ kind: 'statistics', ...query }) }),
  }),
  route({
    name: 'throughput',
    method: 'GET',
    path: '/api/throughput',
    about:
      'Returns completed attempts and failed jobs over time by queue: per minute for two hours (span=minute, the default) or per hour for sixty days (span=hour). Empty periods have no point.',
    role: 'read',
    query: { queue: queueName, span: seriesSpan },
    answer: throughputView,
    handle: async ({ query: { queue, span = 'minute' }, context }) => {
      const points = await context.store.jobs.insight({ kind: 'series', span, ...(queue !== undefined && { queue }) });
      return json({ now: storeNow(context), span, points });
    },
  }),
  route({
    name: 'prunable',
    method: 'GET',
    path: '/api/prunable',
    about:
      'Returns what retention would delete now, by queue and kind: counts by age, number and bytes. Deletes nothing.',
    role: 'read',
    query: { queue: queueName },
    answer: prunableView,
    handle: async ({ query, context }) => {
      const jobs = await context.store.jobs.insight({ kind: 'prunable', ...query });
      const files = (await context.node?.prunableFiles(query.queue)) ?? [];
      return json({ jobs: [...jobs, ...files] });
    },
  }),
  route({
    name: 'storage',
    method: 'GET',
    path: '/api/storage',
    about:
      "Returns the storage of each queue in counts and bytes: ended jobs by state, their results, the logs in the store and on this node, and this node's attachments (null before the first count).",
    role: 'read',
    query: { queue: queueName },
    answer: storageView,
    handle: async ({ query, context }) => {
      const kept = await context.store.jobs.insight({ kind: 'storage', ...query });
      const files = (queue: string) => context.node?.keptFiles(queue) ?? { logs: null, attachments: null };
      return json({ queues: kept.map((each) => withFiles(each, files(each.queue))) });
    },
  }),
  route({
    name: 'tags',
    method: 'GET',
    path: '/api/tags',
    about: 'Lists the most frequent tags.',
    role: 'read',
    query: { limit: pageLimit },
    answer: tagsView,
    handle: async ({ query, context }) =>
      json({ tags: await context.store.jobs.insight({ kind: 'tags', limit: limitOf(query) }) }),
  }),
  route({
    name: 'search',
    method: 'GET',
    path: '/api/search',
    about:
      'Searches jobs by prefix of an id, tag or name, or by a data field that the queue declares searchable. A short page may have a `next`.',
    role: 'read',
    query: searchQuery,
    answer: jobPage,
    handle: async ({ query: { q = '', ...query }, context }) => {
      const search = { ...query, words: q, limit: limitOf(query) };
      const fieldsOf = async (queue: string): Promise<readonly string[]> => (await context.settings.read(queue)).search;
      const page = q === '' ? { jobs: [], next: null } : await searchJobs(context.store.jobs, search, fieldsOf);
      return json({ jobs: await viewsOf(context, page.jobs), next: page.next });
    },
  }),
  route({
    name: 'tracked',
    method: 'GET',
    path: '/api/tracked',
    about: 'Lists tracked jobs, latest first; `job` is null for a deleted one.',
    role: 'read',
    answer: trackedView,
    handle: async ({ context }) => json({ jobs: await tracked(context) }),
  }),
  route({
    name: 'jobs.track',
    method: 'POST',
    path: '/api/jobs/{id}/track',
    about: 'Tracks a job.',
    role: 'operate',
    params,
    body: emptyBody,
    answer: jobView,
    handle: async ({ params, context }) => {
      mustBeOk([await track(context.store, params.id)]);
      return json(await findView(context, params.id));
    },
  }),
  route({
    name: 'jobs.untrack',
    method: 'POST',
    path: '/api/jobs/{id}/untrack',
    about: 'Stops tracking a job, even if it was deleted.',
    role: 'operate',
    params,
    body: emptyBody,
    answer: 'none',
    status: 204,
    handle: async ({ params, context }) => {
      mustBeOk([await untrack(context.store, params.id)]);
      return { status: 204, body: { kind: 'none' } };
    },
  }),
];

async function tracked(context: ServerContext): Promise<readonly unknown[]> {
  const entries = await trackedJobs(context.store);
  const views = await viewsOf(
    context,
    entries.flatMap(({ job }) => (job === null ? [] : [job])),
  );
  const byId = new Map(views.map((view) => [view.id, view]));
  return entries.map(({ id, trackedAt }) => ({ id, trackedAt, job: byId.get(id) ?? null }));
}

interface Files {
  readonly logs: StoredSize | null;
  readonly attachments: StoredSize | null;
}

/** Logs are in the store, or in files of this node. Null: nothing is known of files, and the store has none. */
function withFiles(stored: QueueStorage, { logs, attachments }: Files) {
  if (logs === null) return { ...stored, logs: stored.logs.count > 0 ? stored.logs : null, attachments };
  const sum = { count: stored.logs.count + logs.count, bytes: stored.logs.bytes + logs.bytes };
  return { ...stored, logs: sum, attachments };
}
