/** The attempts of a job, and the live processes of the running one. */
import { fields, listOf } from '../../core/input/check.ts';
import { described } from '../../core/input/json-schema.ts';
import { jobId } from '../../core/job/names.ts';
import type { JobProcesses } from '../../wire/processes.ts';
import { jobProcesses, MAX_PROCESSES } from '../../wire/processes.ts';
import { refusedReply } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { json } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { clusterAttempts } from '../views/cluster-attempts.ts';
import { forwardProcesses } from '../views/from-other-node.ts';
import { findJob } from '../views/job-views.ts';
import { nodeOf } from '../views/node-of.ts';

const MAX_ATTEMPTS = 1_000;
const attempt = described(
  {
    type: 'object',
    description:
      'attempt, worker, claimedAt, isRunning, outcome, endedAt, note, script, end (exit, signal, wall time, totals), usage, phases (name, at), log (size, generation, head, dropped), logGaps (from, to, offset)',
  },
  (value: unknown) => value,
);

export const attemptRoutes: readonly Route[] = [
  route({
    name: 'attempts.list',
    method: 'GET',
    path: '/api/jobs/{id}/attempts',
    about: 'Lists the attempts of a job, newest last.',
    role: 'read',
    nodes: true,
    params: { id: jobId },
    answer: fields({ attempts: listOf(attempt, MAX_ATTEMPTS) }),
    handle: async (call) => {
      const answer = await nodeOf(call.context).attempts.list(call.params.id);
      return answer.ok ? json({ attempts: await clusterAttempts(call, answer) }) : refusedReply(answer.refusal);
    },
  }),
  route({
    name: 'processes.list',
    method: 'GET',
    path: '/api/jobs/{id}/processes',
    about: 'Lists the live processes of a running script, which a cancel would stop, and the grace time.',
    role: 'read',
    nodes: true,
    params: { id: jobId },
    answer: jobProcesses,
    handle: (call) => listProcesses(call),
  }),
];

const NONE_HERE: JobProcesses = { isHere: false, attempt: null, graceMs: null, count: 0, processes: [] };

async function listProcesses(call: Call<{ readonly id: string }>): Promise<Reply> {
  const { context, params } = call;
  const job = await findJob(context, params.id);
  const found = await nodeOf(context).processes(params.id);
  if (found === null) return (await forwardProcesses(call, job)) ?? json(NONE_HERE);
  const { processes, ...rest } = found;
  const shown = processes.slice(0, MAX_PROCESSES);
  const view: JobProcesses = { isHere: true, ...rest, count: processes.length, processes: shown };
  return json(view);
}
