/** `recur` and its family: recurring jobs are defined, read, changed and ended. */
import { checked } from '../../../core/input/check.ts';
import { scheduleName } from '../../../core/job/names.ts';
import type { Schedule } from '../../../core/schedules/schedule.ts';
import { newSchedule } from '../../../core/schedules/schedule.ts';
import { deleteSchedule } from '../../../schedules/manage-schedules.ts';
import { findSchedule, putSchedule, rewriteSchedule, tooMany } from '../../../schedules/schedule-records.ts';
import type { Arguments, Call, Command } from '../arguments.ts';
import {
  asText,
  jsonArgument,
  pairs,
  queueArgument,
  raise,
  secondsArgument,
  textArgument,
  wholeArgument,
  wrong,
} from '../arguments.ts';
import { useQueue } from '../config.ts';
import { definitionOf, type Recurring, recurringOf, recurringToJson } from '../recurring-jobs.ts';
import { jobArguments, priorityArgument, tagsArgument, throttlesArgument } from './job-arguments.ts';
import { refused } from './put-command.ts';

export const recurCommands: Readonly<Record<string, Command>> = {
  recur: async (call, [queue, jid, klass, data, spec, ...rest]) => {
    if (spec !== 'interval') wrong(`Recur(): schedule type "${asText(spec)}" unknown`);
    return recurAtInterval(call, [queue, jid, klass, data, ...rest]);
  },
  unrecur: async (call, [jid]) => {
    await deleteSchedule(call.longhaul.store, textArgument(jid, 'Unrecur', 'jid'));
    return true;
  },
  'recur.get': async (call, [jid]) => {
    const kept = await findSchedule(call.longhaul.store.records, textArgument(jid, 'recur.get', 'jid'));
    return kept === null ? null : recurringToJson(call, kept.schedule);
  },
  'recur.update': async (call, [jid, ...rest]) => {
    const given = pairs(rest, UPDATES, 'recur.update');
    if (given['queue'] !== undefined) await useQueue(call, queueArgument(given['queue'], 'recur.update'));
    await change(call, jid, (before) => ({ ...before, ...readUpdate(given, before) }));
    return true;
  },
  'recur.tag': async (call, [jid, ...tags]) => {
    const next = await change(call, jid, (before) => ({
      ...before,
      tags: [...new Set([...before.tags, ...tags.map(asText)])],
    }));
    return next.tags;
  },
  'recur.untag': async (call, [jid, ...tags]) => {
    const gone = tags.map(asText);
    const next = await change(call, jid, (before) => ({
      ...before,
      tags: before.tags.filter((tag) => !gone.includes(tag)),
    }));
    return next.tags;
  },
};

const UPDATES = ['priority', 'interval', 'retries', 'data', 'klass', 'queue', 'backlog', 'throttles'];

/** Defines a recurring job, or defines it anew: the count of its jobs goes on. */
export async function recurAtInterval(
  call: Call,
  [queue, jid, klass, data, interval, offset, ...rest]: Arguments,
): Promise<string> {
  const name = checked('jid', textArgument(jid, 'Recur', 'jid'), scheduleName);
  const recurring: Recurring = {
    ...jobArguments({ queue, klass, data }, 'Recur'),
    intervalMs: intervalArgument(interval),
    nextMs: call.nowMs + secondsArgument(offset, 'Recur', 'offset'),
    ...readOptions(rest),
  };
  await useQueue(call, recurring.queue);
  return keep(call, name, recurring);
}

function intervalArgument(value: unknown): number {
  const ms = secondsArgument(value, 'Recur', 'interval');
  return ms > 0 ? ms : wrong('Recur(): Arg "interval" must be greater than 0');
}

function readOptions(rest: Arguments): Pick<Recurring, 'priority' | 'tags' | 'retries' | 'backlog' | 'throttles'> {
  const given = pairs(rest, ['priority', 'tags', 'retries', 'backlog', 'throttles'], 'Recur');
  return {
    priority: priorityArgument(given['priority'] ?? 0, 'Recur'),
    tags: tagsArgument(given['tags'] ?? '[]', 'Recur'),
    retries: wholeArgument(given['retries'] ?? 0, 'Recur', 'retries'),
    backlog: wholeArgument(given['backlog'] ?? 0, 'Recur', 'backlog'),
    throttles: throttlesArgument(given['throttles'] ?? '[]', 'Recur'),
  };
}

/** Another interval moves the next time by the difference, as in qless. */
function readUpdate(given: Readonly<Record<string, unknown>>, before: Recurring): Partial<Recurring> {
  const whole = (name: string): number => wholeArgument(given[name], 'Recur', name);
  const intervalMs = given['interval'] === undefined ? before.intervalMs : intervalArgument(given['interval']);
  return {
    intervalMs,
    nextMs: before.nextMs + intervalMs - before.intervalMs,
    ...(given['priority'] !== undefined && { priority: priorityArgument(given['priority'], 'Recur') }),
    ...(given['retries'] !== undefined && { retries: whole('retries') }),
    ...(given['backlog'] !== undefined && { backlog: whole('backlog') }),
    ...(given['data'] !== undefined && { data: jsonArgument(given['data'], 'Recur', 'data') }),
    ...(given['klass'] !== undefined && { klass: textArgument(given['klass'], 'Recur', 'klass') }),
    ...(given['queue'] !== undefined && { queue: queueArgument(given['queue'], 'Recur') }),
    ...(given['throttles'] !== undefined && { throttles: throttlesArgument(given['throttles'], 'Recur') }),
  };
}

const MOST_TRIES = 20;

async function keep(call: Call, name: string, recurring: Recurring): Promise<string> {
  const { records } = call.longhaul.store;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const kept = await findSchedule(records, name);
    const before = kept?.schedule ?? newSchedule(name, definitionOf(recurring), call.nowMs);
    if (await putSchedule(records, redefined(call, before, recurring), kept?.version ?? 0)) return name;
  }
  throw tooMany(name);
}

/** The next job is due exactly at `nextMs`, even if that time was decided before. */
function redefined({ nowMs }: Call, before: Schedule, recurring: Recurring): Schedule {
  return { ...before, definition: definitionOf(recurring), changedAt: nowMs, mark: recurring.nextMs - 1 };
}

async function change(call: Call, jid: unknown, edit: (before: Recurring) => Recurring): Promise<Recurring> {
  const name = textArgument(jid, 'Recur', 'jid');
  const written = await rewriteSchedule(call.longhaul.store.records, name, (before) =>
    redefined(call, before, edit(recurringOf(before))),
  );
  if (written.ok) return recurringOf(written.schedule);
  return written.refusal.code === 'not-found' ? raise(`Recur(): No recurring job ${name}`) : refused('Recur', written);
}
