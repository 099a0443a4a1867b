/**
 * `recur` and its family: a schedule of Longhaul's with an interval, whose jobs are `<jid>-<n>`. They are made when somebody
 * pops the queue, by the time of that pop; one for each interval that has passed, or at most `backlog` of them.
 */
import { checked } from '../../core/input/check.ts';
import { scheduleName } from '../../core/job/names.ts';
import type { Schedule, ScheduleDefinition } from '../../core/schedules/schedule.ts';
import { newSchedule, redefined } from '../../core/schedules/schedule.ts';
import { type ScheduleInput, toDefinition } from '../../core/schedules/schedule-input.ts';
import { fireSchedule } from '../../schedules/fire-schedule.ts';
import { deleteSchedule } from '../../schedules/manage-schedules.ts';
import {
  findSchedule,
  listSchedules,
  putSchedule,
  rewriteSchedule,
  tooMany,
} from '../../schedules/schedule-records.ts';
import type { Arguments, Call, Command } from './arguments.ts';
import {
  jsonArgument,
  listArgument,
  numberArgument,
  pairs,
  queueArgument,
  raise,
  said,
  secondsArgument,
  textArgument,
  wrong,
} from './arguments.ts';
import { DEFAULT_RETRIES, useQueue } from './config.ts';
import { refused } from './put-command.ts';
import { flipped } from './qless-job.ts';

/** A rule that recurs, in Longhaul's words. */
interface Recurring {
  readonly queue: string;
  readonly klass: string;
  readonly data: string;
  readonly intervalMs: number;
  readonly fromMs: number;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly retries: number;
  readonly backlog: number;
}

export const recurCommands: Readonly<Record<string, Command>> = {
  recur: async (call, args) => {
    const [queue, jid, klass, data, spec, interval, offset, ...rest] = args;
    if (spec !== 'interval') wrong(`Recur(): schedule type "${said(spec)}" unknown`);
    const name = checked('jid', textArgument(jid, 'Recur', 'jid'), scheduleName);
    const intervalMs = secondsArgument(interval, 'Recur', 'interval');
    if (intervalMs <= 0) wrong('Recur(): Arg "interval" must be greater than 0');
    const recurring: Recurring = {
      queue: await useQueue(call, queueArgument(queue, 'Recur')),
      klass: textArgument(klass, 'Recur', 'klass'),
      data: jsonArgument(data, 'Recur', 'data'),
      intervalMs,
      fromMs: call.nowMs + secondsArgument(offset ?? 0, 'Recur', 'offset'),
      ...readOptions(rest),
    };
    return keep(call, name, toDefinition(toInput(recurring)));
  },
  unrecur: async (call, [jid]) => {
    const answer = await deleteSchedule(call.longhaul.store, textArgument(jid, 'Unrecur', 'jid'));
    return answer.ok;
  },
  'recur.get': async (call, [jid]) => {
    const kept = await findSchedule(call.longhaul.store.records, textArgument(jid, 'recur.get', 'jid'));
    return kept === null ? null : toJson(kept.schedule);
  },
  'recur.update': async (call, [jid, ...rest]) => {
    const given = pairs(rest, ['priority', 'interval', 'retries', 'data', 'klass', 'queue', 'backlog'], 'recur.update');
    if (given['queue'] !== undefined) await useQueue(call, queueArgument(given['queue'], 'recur.update'));
    await change(call, jid, (before) => ({ ...before, ...readUpdate(given) }));
    return true;
  },
  'recur.tag': async (call, [jid, ...tags]) => {
    const next = await change(call, jid, (before) => ({
      ...before,
      tags: [...new Set([...before.tags, ...tags.map(said)])],
    }));
    return next.tags;
  },
  'recur.untag': async (call, [jid, ...tags]) => {
    const next = await change(call, jid, (before) => ({
      ...before,
      tags: before.tags.filter((tag) => !tags.includes(tag)),
    }));
    return next.tags;
  },
};

function readOptions(rest: Arguments): Pick<Recurring, 'priority' | 'tags' | 'retries' | 'backlog'> {
  const given = pairs(rest, ['priority', 'tags', 'retries', 'backlog'], 'Recur');
  return {
    priority: flipped(numberArgument(given['priority'] ?? 0, 'Recur', 'priority')),
    tags: listArgument(given['tags'] ?? '[]', 'Recur', 'tags'),
    retries: numberArgument(given['retries'] ?? DEFAULT_RETRIES, 'Recur', 'retries'),
    backlog: numberArgument(given['backlog'] ?? 0, 'Recur', 'backlog'),
  };
}

function readUpdate(given: Readonly<Record<string, unknown>>): Partial<Recurring> {
  const number = (name: string): number => numberArgument(given[name], 'recur.update', name);
  return {
    ...(given['priority'] !== undefined && { priority: flipped(number('priority')) }),
    ...(given['interval'] !== undefined && {
      intervalMs: secondsArgument(given['interval'], 'recur.update', 'interval'),
    }),
    ...(given['retries'] !== undefined && { retries: number('retries') }),
    ...(given['backlog'] !== undefined && { backlog: number('backlog') }),
    ...(given['data'] !== undefined && { data: jsonArgument(given['data'], 'recur.update', 'data') }),
    ...(given['klass'] !== undefined && { klass: textArgument(given['klass'], 'recur.update', 'klass') }),
    ...(given['queue'] !== undefined && { queue: queueArgument(given['queue'], 'recur.update') }),
  };
}

/** However late a pop comes, what it finds due is made up. */
const CATCH_UP = '36500d';

function toInput(recurring: Recurring): ScheduleInput {
  const { queue, klass, data, intervalMs, fromMs, priority, tags, retries, backlog } = recurring;
  return {
    queue,
    data: JSON.parse(data) as unknown,
    every: intervalMs,
    from: fromMs,
    options: { name: klass, priority, tags, retries },
    overlap: 'allow',
    ids: 'count',
    backlog: backlog === 0 ? null : backlog,
    catchUp: CATCH_UP,
  };
}

interface ScheduledOptions {
  readonly name: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly retries: number;
}

function recurringOf({ rule, fromAt, job, backlog }: ScheduleDefinition): Recurring {
  const { name: klass, priority, tags, retries } = job.options as unknown as ScheduledOptions;
  const intervalMs = rule.kind === 'every' ? rule.everyMs : 0;
  const { queue, data } = job;
  return { queue, klass, data, intervalMs, fromMs: fromAt ?? 0, priority, tags, retries, backlog: backlog ?? 0 };
}

function toJson({ name, definition, made }: Schedule): Readonly<Record<string, unknown>> {
  const { queue, klass, data, intervalMs, priority, tags, retries, backlog } = recurringOf(definition);
  const about = { jid: name, klass, state: 'recur', queue, priority: flipped(priority), retries, data, tags };
  return { ...about, interval: intervalMs / 1_000, count: made, backlog };
}

const MOST_TRIES = 20;

/** By the time of the caller to the millisecond: a slot at this very moment is still to come. */
async function keep(call: Call, name: string, definition: ScheduleDefinition): Promise<string> {
  const { records } = call.longhaul.store;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const kept = await findSchedule(records, name);
    const schedule =
      kept === null ? newSchedule(name, definition, call.nowMs) : redefined(kept.schedule, definition, call.nowMs);
    if (await putSchedule(records, schedule, kept?.version ?? 0)) return name;
  }
  throw tooMany(name);
}

async function change(call: Call, jid: unknown, edit: (before: Recurring) => Recurring): Promise<Recurring> {
  const name = textArgument(jid, 'Recur', 'jid');
  const { records } = call.longhaul.store;
  const written = await rewriteSchedule(records, name, (before) =>
    redefined(before, toDefinition(toInput(edit(recurringOf(before.definition)))), call.nowMs),
  );
  if (written.ok) return recurringOf(written.schedule.definition);
  return written.refusal.code === 'not-found' ? raise(`Recur(): No recurring job ${name}`) : refused('Recur', written);
}

export async function recurringIn({ longhaul }: Call, queue: string): Promise<readonly Schedule[]> {
  const kept = await listSchedules(longhaul.store.records);
  return kept.map(({ schedule }) => schedule).filter(({ definition }) => definition.job.queue === queue);
}

const MOST_TURNS = 1_000;

/** Until nothing of this queue is due, however much there is. */
export async function fireRecurring(call: Call, queue: string): Promise<void> {
  const { store } = call.longhaul;
  for (const { name } of await recurringIn(call, queue)) {
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      const kept = await findSchedule(store.records, name);
      if (kept === null) break;
      const again = await fireSchedule(store, kept, call.nowMs);
      if (again === null || again > call.nowMs) break;
    }
  }
}
