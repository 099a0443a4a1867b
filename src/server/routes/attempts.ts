/** The attempts of a job: who ran it and when, how each ended, what it used, and which script it really was. */
import { fields, listOf } from '../../core/check.ts';
import { described } from '../../core/json-schema.ts';
import { jobId } from '../../core/names.ts';
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
      'attempt, worker, claimedAt, isRunning, outcome, endedAt, note, script, end (exit, signal, wall time, totals), usage, log (size, generation, head, dropped)',
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
];
