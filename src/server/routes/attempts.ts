/** The attempts of a job: who ran it and when, how each ended, what it used, which script it was; and who runs it now. */
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
import { attemptsEverywhere } from '../views/cluster-attempts.ts';
import { runningElsewhere } from '../views/from-other-node.ts';
import { findJob } from '../views/job-views.ts';
import { nodeOf } from '../views/node-of.ts';

const MOST_ATTEMPTS = 1_000;
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
    about: 'The attempts of a job, the newest last.',
    role: 'read',
    nodes: true,
    params: { id: jobId },
    answer: fields({ attempts: listOf(attempt, MOST_ATTEMPTS) }),
    handle: async (call) => {
      const answer = await nodeOf(call.context).attempts.list(call.params.id);
      return answer.ok ? json({ attempts: await attemptsEverywhere(call, answer) }) : refusedReply(answer.refusal);
    },
  }),
  route({
    name: 'processes.list',
    method: 'GET',
    path: '/api/jobs/{id}/processes',
    about: 'The live processes of a job whose script runs on a node: what a cancel would end, and with which grace.',
    role: 'read',
    nodes: true,
    params: { id: jobId },
    answer: jobProcesses,
    handle: (call) => lookAtProcesses(call),
  }),
];

const NONE_HERE: JobProcesses = { isHere: false, attempt: null, graceMs: null, count: 0, processes: [] };

async function lookAtProcesses(call: Call<{ readonly id: string }>): Promise<Reply> {
  const { context, params } = call;
  const job = await findJob(context, params.id);
  const found = await nodeOf(context).processes(params.id);
  if (found === null) return (await runningElsewhere(call, job)) ?? json(NONE_HERE);
  const { processes, ...rest } = found;
  const shown = processes.slice(0, MAX_PROCESSES);
  const view: JobProcesses = { isHere: true, ...rest, count: processes.length, processes: shown };
  return json(view);
}
