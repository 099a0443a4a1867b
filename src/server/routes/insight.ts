/** What can be known besides the jobs: statistics, tags, search, tracked jobs, and what the settings mean. */
import { object, text } from '../../core/input/check.ts';
import { jobId, queueName } from '../../core/job/names.ts';
import { searchJobs } from '../../core/job/search-jobs.ts';
import { track, trackedJobs, untrack } from '../../core/job/tracked-jobs.ts';
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
const nothing = object({});
const searchQuery = { q: text({ max: 256 }), queue: queueName, after: text({ max: 1_024 }), limit: pageLimit };

export const insightRoutes: readonly Route[] = [
  route({
    name: 'statistics',
    method: 'GET',
    path: '/api/statistics',
    about:
      'By queue and UTC day, also by tag or worker: how long jobs waited and ran, and how often attempts ended badly.',
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
      'How many attempts were completed and how many jobs failed over time, by queue: in each minute of the last two hours (span=minute, the default) or each hour of the last sixty days (span=hour). Where nothing ended there is no point.',
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
      'What retention would delete now, by queue and kind, in numbers and bytes, and whether by age, number or bytes. Deletes nothing.',
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
      "What each queue keeps, in numbers and bytes: ended jobs by state (data, result and checkpoint), their results, and this node's logs and attachments; null for files that nobody counted yet.",
    role: 'read',
    query: { queue: queueName },
    answer: storageView,
    handle: async ({ query, context }) => {
      const kept = await context.store.jobs.insight({ kind: 'storage', ...query });
      const files = (queue: string) => context.node?.keptFiles(queue) ?? { logs: null, attachments: null };
      return json({ queues: kept.map((each) => ({ ...each, ...files(each.queue) })) });
    },
  }),
  route({
    name: 'tags',
    method: 'GET',
    path: '/api/tags',
    about: 'The tags that most jobs have.',
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
      'Jobs by the beginning of an id, a tag, a name, or a field of the data that their queue declares as searchable. A page may be short and still have a `next`.',
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
    about: 'The jobs that somebody keeps an eye on, the latest mark first; null for one that is gone.',
    role: 'read',
    answer: trackedView,
    handle: async ({ context }) => json({ jobs: await tracked(context) }),
  }),
  route({
    name: 'jobs.track',
    method: 'POST',
    path: '/api/jobs/{id}/track',
    about: 'Marks a job as one to keep an eye on.',
    role: 'operate',
    params,
    body: nothing,
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
    about: 'Takes the mark away, also from a job that is gone.',
    role: 'operate',
    params,
    body: nothing,
    answer: 'none',
    status: 204,
    handle: async ({ params, context }) => {
      mustBeOk([await untrack(context.store, params.id)]);
      return { status: 204, body: { kind: 'none' } };
    },
  }),
];

async function tracked(context: ServerContext): Promise<readonly unknown[]> {
  const marks = await trackedJobs(context.store);
  const views = await viewsOf(
    context,
    marks.flatMap(({ job }) => (job === null ? [] : [job])),
  );
  const byId = new Map(views.map((view) => [view.id, view]));
  return marks.map(({ id, trackedAt }) => ({ id, trackedAt, job: byId.get(id) ?? null }));
}
