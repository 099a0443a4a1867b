/** What the page shows first. */
import { text } from '../../core/input/check.ts';
import { jobId } from '../../core/job/names.ts';
import { glances, oneRunning, overview, runningRows } from '../../wire/overview.ts';
import { queryInteger } from '../http/query-checks.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { nodeOf } from '../views/node-of.ts';
import { lookOver } from '../views/overview.ts';
import { lookAtOne, lookAtRunning } from '../views/running-jobs.ts';
import { glancesHere } from '../views/running-summaries.ts';

const ROWS = 100;
const MOST_ROWS = 500;

export const overviewRoutes: readonly Route[] = [
  route({
    name: 'overview',
    method: 'GET',
    path: '/api/overview',
    about: 'Every queue in a line and the totals of all: what a first look needs.',
    role: 'read',
    answer: overview,
    handle: async ({ context }) => json(await lookOver(context)),
  }),
  route({
    name: 'running',
    method: 'GET',
    path: '/api/running',
    about: 'The running jobs, each with what it uses, its last line, and when it is expected to end.',
    role: 'read',
    query: { limit: queryInteger(1, MOST_ROWS), after: text({ max: 1_024 }) },
    answer: runningRows,
    handle: async ({ context, query }) => json(await lookAtRunning(context, { limit: ROWS, ...query })),
  }),
  route({
    name: 'running.here',
    method: 'GET',
    path: '/api/running/here',
    about: 'Of the scripts that run on this very node: the last line of each and what it uses. Other nodes ask for it.',
    role: 'read',
    nodes: true,
    answer: glances,
    handle: async ({ context }) => json({ glances: await glancesHere(nodeOf(context)) }),
  }),
  route({
    name: 'jobs.running',
    method: 'GET',
    path: '/api/jobs/{id}/running',
    about: 'The row of one running job, as the list of all has it; null for a job that does not run.',
    role: 'read',
    params: { id: jobId },
    answer: oneRunning,
    handle: async ({ context, params }) => json({ now: context.now(), row: await lookAtOne(context, params.id) }),
  }),
];
