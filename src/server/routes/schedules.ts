/** Schedules: defined by name, looked at, paused, run by hand; and what the coming hours hold. Rules are the core's. */
import { object, orNull, text } from '../../core/input/check.ts';
import { scheduleName } from '../../core/job/names.ts';
import type { Schedule } from '../../core/schedules/schedule.ts';
import { nextSlots } from '../../core/schedules/schedule.ts';
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
import {
  laneList,
  ranAnswer,
  ruleAnswer,
  scheduleAnswer,
  scheduleList,
  setAnswer,
} from '../../wire/schedule-checks.ts';
import { upcomingRuns } from '../../wire/schedule-view.ts';
import { ruleWords } from '../../wire/schedule-words.ts';
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
const laneQuery = { hours: queryInteger(1, 168) };

const HOUR_MS = 3_600_000;
const LANE_HOURS = 24;
const MOST_A_LANE = 1_500;
const SHOWN_UPCOMING = 5;

export const scheduleRoutes: readonly Route[] = [
  route({
    name: 'schedules.list',
    method: 'GET',
    path: '/api/schedules',
    about: 'Every schedule, by name, with its rule in words, its next runs and its last ones.',
    role: 'read',
    answer: scheduleList,
    handle: async ({ context }) => {
      const kept = await listSchedules(context.store.records);
      const schedules = kept.map(({ schedule }) => schedule);
      return json({ schedules: await scheduleViews(context.store, schedules, context.now()) });
    },
  }),
  route({
    name: 'schedules.lanes',
    method: 'GET',
    path: '/api/schedules/lanes',
    about:
      'When each schedule runs in the coming hours, 24 unless told, and how long its jobs took on average in the last days.',
    role: 'read',
    query: laneQuery,
    answer: laneList,
    handle: async ({ context, query }) => json(await lanes(context, query.hours ?? LANE_HOURS)),
  }),
  route({
    name: 'schedules.explain',
    method: 'POST',
    path: '/api/schedules/explain',
    about: 'What a rule means: in words, and when it would fire next. Keeps nothing.',
    role: 'read',
    body: ruleInput,
    answer: ruleAnswer,
    handle: ({ context, body }) => {
      const bounded = readRule(body);
      const upcoming = nextSlots(bounded, context.now(), SHOWN_UPCOMING);
      return json({ words: ruleWords(bounded.rule), upcoming });
    },
  }),
  route({
    name: 'schedules.find',
    method: 'GET',
    path: '/api/schedules/{schedule}',
    about: 'One schedule.',
    role: 'read',
    params,
    answer: scheduleAnswer,
    handle: async ({ params: { schedule }, context }) => {
      const kept = await findSchedule(context.store.records, schedule);
      if (kept === null) throw refuseRequest('not-found', `schedule ${schedule} does not exist`);
      return json(await shown(context, kept.schedule));
    },
  }),
  route({
    name: 'schedules.set',
    method: 'PUT',
    path: '/api/schedules/{schedule}',
    about:
      'Makes the schedule, or changes the one of that name, which keeps its marks. The same definition again changes nothing.',
    role: 'operate',
    params,
    body: scheduleInput,
    answer: setAnswer,
    handle: async ({ params: { schedule: name }, body, context }) => {
      const { outcome, schedule } = await setSchedule(context.store, name, body);
      context.node?.wakeSchedules();
      return json({ ...(await shown(context, schedule)), outcome });
    },
  }),
  route({
    name: 'schedules.delete',
    method: 'DELETE',
    path: '/api/schedules/{schedule}',
    about: 'Forgets a schedule. The jobs it made stay.',
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
    about: 'Fires no more until it is resumed. What falls into the pause is not made up.',
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
    about: 'Fires again, from now on.',
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
    about: 'One job of this schedule now, whatever its rule, its policy and its pause say.',
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

async function shown({ store, now }: ServerContext, schedule: Schedule) {
  const [view] = await scheduleViews(store, [schedule], now());
  return view;
}

async function written(context: ServerContext, answer: Written): Promise<Reply> {
  if (!answer.ok) return refusedReply(answer.refusal);
  context.node?.wakeSchedules();
  return json(await shown(context, answer.schedule));
}

async function lanes({ store, now }: ServerContext, hours: number) {
  const schedules = (await listSchedules(store.records)).map(({ schedule }) => schedule);
  const [from, until] = [now(), now() + hours * HOUR_MS];
  const durations = await expectedDurations(store, schedules, from);
  const lane = (schedule: Schedule) => {
    const runs = upcomingRuns(schedule, { after: from, until, limit: MOST_A_LANE + 1 });
    const { name, definition, pausedAt } = schedule;
    return {
      name,
      queue: definition.job.queue,
      isPaused: pausedAt !== null,
      expectedMs: durations.get(name) ?? null,
      runs: runs.slice(0, MOST_A_LANE),
      isCut: runs.length > MOST_A_LANE,
    };
  };
  return { from, until, lanes: schedules.map(lane) };
}
