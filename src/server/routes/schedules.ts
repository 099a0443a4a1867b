/** Schedules: set, get, list, pause, resume, run now, and the run times of the next hours. The rules are in core. */
import { object, orNull, text } from '../../core/input/check.ts';
import { scheduleName } from '../../core/job/names.ts';
import type { Schedule } from '../../core/schedules/schedule.ts';
import { nextRunTimes } from '../../core/schedules/schedule.ts';
import { scheduleInput } from '../../core/schedules/schedule-input.ts';
import { readRule, ruleInput } from '../../core/schedules/schedule-rule-input.ts';
import {
  deleteSchedule,
  pauseSchedule,
  resumeSchedule,
  runScheduleNow,
  setSchedule,
} from '../../schedules/manage-schedules.ts';
import { expectedDurations } from '../../schedules/schedule-durations.ts';
import type { Written } from '../../schedules/schedule-records.ts';
import { findSchedule, listSchedules } from '../../schedules/schedule-records.ts';
import { scheduleViews } from '../../schedules/schedule-views.ts';
import { describeRule } from '../../wire/describe-rule.ts';
import {
  ranAnswer,
  ruleAnswer,
  scheduleAnswer,
  scheduleList,
  scheduleTimelines,
  setAnswer,
} from '../../wire/schedule-checks.ts';
import { upcomingRuns } from '../../wire/schedule-view.ts';
import { idempotent } from '../auth/idempotency.ts';
import { refusedReply, refuseRequest } from '../http/problem.ts';
import { queryInteger } from '../http/query-checks.ts';
import type { Reply } from '../http/reply.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { ServerContext } from '../views/context.ts';

const params = { schedule: scheduleName };
const noteBody = object({ note: orNull(text({ max: 1_000 })) });
const timelineQuery = { hours: queryInteger(1, 168) };

const HOUR_MS = 3_600_000;
const TIMELINE_HOURS = 24;
const MAX_RUNS = 1_500;
const SHOWN_UPCOMING = 5;

export const scheduleRoutes: readonly Route[] = [
  route({
    name: 'schedules.list',
    method: 'GET',
    path: '/api/schedules',
    about: 'Lists schedules by name, with their rules, next run times and last runs.',
    role: 'read',
    answer: scheduleList,
    handle: async ({ context }) => {
      const records = await listSchedules(context.store.records);
      const schedules = records.map(({ schedule }) => schedule);
      return json({ schedules: await scheduleViews(context.store, schedules, context.now()) });
    },
  }),
  route({
    name: 'schedules.timelines',
    method: 'GET',
    path: '/api/schedules/timelines',
    about:
      'Returns the run times of each schedule in the next hours (default 24), and the average run time of its jobs.',
    role: 'read',
    query: timelineQuery,
    answer: scheduleTimelines,
    handle: async ({ context, query }) => json(await timelines(context, query.hours ?? TIMELINE_HOURS)),
  }),
  route({
    name: 'schedules.explain',
    method: 'POST',
    path: '/api/schedules/explain',
    about: 'Explains a rule: its meaning and its next run times. Stores nothing.',
    role: 'read',
    body: ruleInput,
    answer: ruleAnswer,
    handle: ({ context, body }) => {
      const bounded = readRule(body);
      const upcoming = nextRunTimes(bounded, context.now(), SHOWN_UPCOMING);
      return json({ words: describeRule(bounded.rule), upcoming });
    },
  }),
  route({
    name: 'schedules.find',
    method: 'GET',
    path: '/api/schedules/{schedule}',
    about: 'Returns a schedule.',
    role: 'read',
    params,
    answer: scheduleAnswer,
    handle: async ({ params: { schedule }, context }) => {
      const found = await findSchedule(context.store.records, schedule);
      if (found === null) throw refuseRequest('not-found', `schedule ${schedule} does not exist`);
      return json(await viewOf(context, found.schedule));
    },
  }),
  route({
    name: 'schedules.set',
    method: 'PUT',
    path: '/api/schedules/{schedule}',
    about:
      'Creates or changes a schedule; a changed schedule keeps its position in time. The same definition has no effect.',
    role: 'operate',
    params,
    body: scheduleInput,
    answer: setAnswer,
    handle: async ({ params: { schedule: name }, body, context }) => {
      const { outcome, schedule } = await setSchedule(context.store, name, body);
      context.node?.wakeSchedules();
      return json({ ...(await viewOf(context, schedule)), outcome });
    },
  }),
  route({
    name: 'schedules.delete',
    method: 'DELETE',
    path: '/api/schedules/{schedule}',
    about: 'Deletes a schedule. Its jobs are kept.',
    role: 'operate',
    params,
    answer: 'none',
    status: 204,
    handle: async ({ params: { schedule }, context }) => {
      const done = await deleteSchedule(context.store, schedule);
      return done.ok ? { status: 204, body: { kind: 'none' } } : refusedReply(done.refusal);
    },
  }),
  route({
    name: 'schedules.pause',
    method: 'POST',
    path: '/api/schedules/{schedule}/pause',
    about: 'Pauses a schedule. Run times during the pause are skipped.',
    role: 'operate',
    params,
    body: noteBody,
    answer: scheduleAnswer,
    handle: async ({ params: { schedule }, body, context }) =>
      written(context, await pauseSchedule(context.store, schedule, body.note ?? null)),
  }),
  route({
    name: 'schedules.resume',
    method: 'POST',
    path: '/api/schedules/{schedule}/resume',
    about: 'Resumes a schedule from now on.',
    role: 'operate',
    params,
    answer: scheduleAnswer,
    handle: async ({ params: { schedule }, context }) =>
      written(context, await resumeSchedule(context.store, schedule)),
  }),
  route({
    name: 'schedules.run',
    method: 'POST',
    path: '/api/schedules/{schedule}/run',
    about: 'Adds a job of a schedule now, whatever its rule, overlap policy and pause.',
    role: 'operate',
    params,
    answer: ranAnswer,
    status: 201,
    handle: (call) =>
      idempotent(call, async (newId) => {
        const isKeyed = call.request.headers['idempotency-key'] !== undefined;
        const ran = await runScheduleNow(call.context.store, call.params.schedule, isKeyed ? newId() : undefined);
        return ran.ok ? json({ id: ran.id }, 201) : refusedReply(ran.refusal);
      }),
  }),
];

async function viewOf({ store, now }: ServerContext, schedule: Schedule) {
  const [view] = await scheduleViews(store, [schedule], now());
  return view;
}

async function written(context: ServerContext, answer: Written): Promise<Reply> {
  if (!answer.ok) return refusedReply(answer.refusal);
  context.node?.wakeSchedules();
  return json(await viewOf(context, answer.schedule));
}

async function timelines({ store, now }: ServerContext, hours: number) {
  const schedules = (await listSchedules(store.records)).map(({ schedule }) => schedule);
  const [from, until] = [now(), now() + hours * HOUR_MS];
  const durations = await expectedDurations(store, schedules, from);
  const timeline = (schedule: Schedule) => {
    const runs = upcomingRuns(schedule, { after: from, until, limit: MAX_RUNS + 1 });
    const { name, definition, pausedAt } = schedule;
    return {
      name,
      queue: definition.job.queue,
      isPaused: pausedAt !== null,
      expectedMs: durations.get(name) ?? null,
      runs: runs.slice(0, MAX_RUNS),
      isCut: runs.length > MAX_RUNS,
    };
  };
  return { from, until, timelines: schedules.map(timeline) };
}
