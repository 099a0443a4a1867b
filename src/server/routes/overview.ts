/** The overview, and the running jobs. */
import { text } from '../../core/input/check.ts';
import { jobId } from '../../core/job/names.ts';
import { oneRunning, overview, runningRows, runningSummaries } from '../../wire/overview.ts';
import { queryInteger } from '../http/query-checks.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { nodeOf } from '../views/node-of.ts';
import { readOverview } from '../views/overview.ts';
import { findRunning, listRunning } from '../views/running-jobs.ts';
import { localSummaries } from '../views/running-summaries.ts';

const ROWS = 100;
const MAX_ROWS = 500;

export const overviewRoutes: readonly Route[] = [
  route({
    name: 'overview',
    method: 'GET',
    path: '/api/overview',
    about: 'Returns one row per queue, and totals.',
    role: 'read',
    answer: overview,
    handle: async ({ context }) => json(await readOverview(context)),
  }),
  route({
    name: 'running',
    method: 'GET',
    path: '/api/running',
    about: 'Lists running jobs with resource usage, last line of output and expected end.',
    role: 'read',
    query: { limit: queryInteger(1, MAX_ROWS), after: text({ max: 1_024 }) },
    answer: runningRows,
    handle: async ({ context, query }) => json(await listRunning(context, { limit: ROWS, ...query })),
  }),
  route({
    name: 'running.here',
    method: 'GET',
    path: '/api/running/here',
    about: 'Lists last line and resource usage of the scripts that run on this node. Called by other nodes.',
    role: 'read',
    nodes: true,
    answer: runningSummaries,
    handle: async ({ context }) => json({ summaries: await localSummaries(nodeOf(context)) }),
  }),
  route({
    name: 'jobs.running',
    method: 'GET',
    path: '/api/jobs/{id}/running',
    about: 'Returns the row of one running job; null if the job does not run.',
    role: 'read',
    params: { id: jobId },
    answer: oneRunning,
    handle: async ({ context, params }) => json({ now: context.now(), row: await findRunning(context, params.id) }),
  }),
];
