/** The attempts of a job: who ran it and when, how each ended, what it used, which script it was; and who runs it now. */
import { fields, listOf } from '../../core/check.ts';
import { described } from '../../core/json-schema.ts';
import { jobId } from '../../core/names.ts';
import type { JobProcesses } from '../../wire/processes.ts';
import { jobProcesses, MOST_PROCESSES } from '../../wire/processes.ts';
import type { ServerContext } from '../context.ts';
import { findJob } from '../job-views.ts';
import { nodeOf } from '../node-of.ts';
import { refusedReply } from '../problem.ts';
import { json } from '../reply.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';

const MOST_ATTEMPTS = 1_000;
const attempt = described(
  {
    type: 'object',
    description:
      'attempt, worker, claimedAt, isRunning, outcome, endedAt, note, script, end (exit, signal, wall time, totals), usage, phases (name, at), log (size, generation, head, dropped)',
  },
  (value: unknown) => value,
);

export const attemptRoutes: readonly Route[] = [
  route({
    name: 'attempts.list',
    method: 'GET',
    path: '/api/jobs/{id}/attempts',
    about: 'The attempts of a job, the newest last.',
    role: 'read',
    params: { id: jobId },
    answer: fields({ attempts: listOf(attempt, MOST_ATTEMPTS) }),
    handle: async ({ params, context }) => {
      const answer = await nodeOf(context).attempts.list(params.id);
      return answer.ok ? json({ attempts: answer.attempts }) : refusedReply(answer.refusal);
    },
  }),
  route({
    name: 'processes.list',
    method: 'GET',
    path: '/api/jobs/{id}/processes',
    about: 'The live processes of a job whose script runs on this node: what a cancel would end, and with which grace.',
    role: 'read',
    params: { id: jobId },
    answer: jobProcesses,
    handle: async ({ params, context }) => json(await lookAtProcesses(context, params.id)),
  }),
];

const NONE_HERE: JobProcesses = { isHere: false, attempt: null, graceMs: null, count: 0, processes: [] };

async function lookAtProcesses(context: ServerContext, id: string): Promise<JobProcesses> {
  await findJob(context, id);
  const found = await nodeOf(context).processes(id);
  if (found === null) return NONE_HERE;
  const { processes, ...rest } = found;
  return { isHere: true, ...rest, count: processes.length, processes: processes.slice(0, MOST_PROCESSES) };
}
