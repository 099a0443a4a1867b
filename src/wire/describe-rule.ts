/**
 * Describes the rule of a schedule in plain English. The text follows from the meaning of the rule, not from its
 * notation: `*\/15` and `0,15,30,45` get the same text. Pure; decides nothing.
 */
import type { CronRule } from '../core/schedules/cron.ts';
import { readCron } from '../core/schedules/cron.ts';
import type { ScheduleRule } from '../core/schedules/schedule-rule.ts';
import { exactDuration } from './spans.ts';

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
/** More times of day than this are described as a pattern. */
const MAX_TIMES = 6;

export function describeRule(rule: ScheduleRule): string {
  if (rule.kind === 'every') return describeInterval(rule);
  const read = readCron(rule.cron);
  return read.ok ? `${describeCron(read.rule)} (${rule.zone})` : rule.cron;
}

function describeInterval({ everyMs, anchorAt }: { everyMs: number; anchorAt: number }): string {
  const offset = anchorAt % everyMs;
  const interval = `every ${formatPeriod(everyMs)}`;
  return offset === 0 ? interval : `${interval}, ${exactDuration(offset)} past`;
}

/** '15 minutes', 'hour', '1h30m'. */
function formatPeriod(ms: number): string {
  const units = [
    ['week', 604_800_000],
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ] as const;
  const unit = units.find(([, length]) => ms % length === 0);
  if (unit === undefined || ms / unit[1] > 120) return exactDuration(ms);
  const count = ms / unit[1];
  return count === 1 ? unit[0] : `${count} ${unit[0]}s`;
}

function describeCron(rule: CronRule): string {
  const days = describeDays(rule);
  const times = describeTimes(rule);
  const isDaily = days === '' && !times.startsWith('every') && !times.includes('of every hour');
  return [isDaily ? 'every day' : '', times, days].filter((part) => part !== '').join(' ');
}

function describeTimes({ seconds, minutes, hours }: CronRule): string {
  if (hours.length * minutes.length * seconds.length <= MAX_TIMES)
    return `at ${timesOfDay({ seconds, minutes, hours })}`;
  if (seconds.length === 1 && seconds[0] === 0) return describeMinutes(minutes, hours);
  const inMinutes = minutes.length === 60 ? '' : ` of ${describePattern(minutes, 60, 'minute')}`;
  const inHours = hours.length === 24 ? '' : ` ${describeHours(hours)}`;
  return `${describePattern(seconds, 60, 'second')}${inMinutes}${inHours}`;
}

function timesOfDay({ seconds, minutes, hours }: Pick<CronRule, 'seconds' | 'minutes' | 'hours'>): string {
  const hasSeconds = seconds.length > 1 || seconds[0] !== 0;
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) =>
      seconds.map((second) => [hour, minute, ...(hasSeconds ? [second] : [])].map(twoDigits).join(':')),
    ),
  );
  return listed(times);
}

function describeMinutes(minutes: readonly number[], hours: readonly number[]): string {
  if (hours.length === 24) {
    const step = stepOf(minutes, 60);
    if (step === null) return `at ${plural('minute', minutes)} of every hour`;
    return step === 60 ? 'every hour' : `every ${formatPeriod(step * 60_000)}`;
  }
  return `${describePattern(minutes, 60, 'minute')} ${describeHours(hours)}`;
}

/** 'every minute', 'every 10 minutes', 'at minutes 5 and 35'. */
function describePattern(numbers: readonly number[], size: number, unit: string): string {
  const step = stepOf(numbers, size);
  if (step === 1) return `every ${unit}`;
  return step !== null && step < size ? `every ${step} ${unit}s` : `at ${plural(unit, numbers)}`;
}

function describeHours(hours: readonly number[]): string {
  const step = stepOf(hours, 24);
  if (step !== null && step < 24) return `of every ${step === 1 ? 'hour' : `${ordinal(step)} hour`}`;
  const [first = 0, last = 0] = [hours[0], hours.at(-1)];
  if (hours.length > 1 && last - first === hours.length - 1)
    return `from ${twoDigits(first)}:00 to ${twoDigits(last)}:59`;
  return `of ${plural('hour', hours)}`;
}

/** Returns the step of numbers that start at 0 and divide `size` evenly, `size` for 0 alone, else null. */
function stepOf(numbers: readonly number[], size: number): number | null {
  const step = size / numbers.length;
  return Number.isInteger(step) && numbers.every((number, index) => number === index * step) ? step : null;
}

function describeDays({ days, weekdays, months }: CronRule): string {
  const dates = days.numbers.length === 31 ? '' : describeDates(days);
  const week = weekdays.numbers.length === 7 ? '' : describeWeekdays(weekdays);
  const joint = days.hasStar || weekdays.hasStar ? ' if it is ' : ' or on ';
  const which = dates !== '' && week !== '' ? `on ${dates}${joint}${week}` : dates || week ? `on ${dates}${week}` : '';
  const year =
    months.length === 12 ? '' : `in ${listed(runs(months).map((run) => named(run, (m) => MONTHS[m - 1] ?? '')))}`;
  return [which, year].filter((part) => part !== '').join(' ');
}

function describeDates({ numbers, isLast }: CronRule['days']): string {
  const dates = numbers.length === 0 ? [] : [`the ${listed(numbers.map(ordinal))}`];
  return listed([...dates, ...(isLast ? ['the last day of the month'] : [])]);
}

function describeWeekdays({ numbers, last, nth }: CronRule['weekdays']): string {
  const name = (day: number): string => WEEKDAYS[day] ?? '';
  // The week begins on Monday, so that Saturday and Sunday are neighbours.
  const inWeek = numbers.map((day) => (day === 0 ? 7 : day)).sort((one, other) => one - other);
  return listed([
    ...runs(inWeek).map((run) => named(run, (day) => name(day % 7))),
    ...last.map((day) => `the last ${name(day)} of the month`),
    ...nth.map(([day, n]) => `the ${ordinal(n)} ${name(day)} of the month`),
  ]);
}

/** Groups consecutive numbers: [1,2,3,6] becomes [[1,2,3],[6]]. */
function runs(numbers: readonly number[]): readonly (readonly number[])[] {
  const found: number[][] = [];
  for (const number of numbers) {
    const run = found.at(-1);
    if (run !== undefined && run.at(-1) === number - 1) run.push(number);
    else found.push([number]);
  }
  return found.flatMap((run) => (run.length === 2 ? run.map((each) => [each]) : [run]));
}

function named(run: readonly number[], name: (number: number) => string): string {
  const [first = 0, last = 0] = [run[0], run.at(-1)];
  return first === last ? name(first) : `${name(first)} to ${name(last)}`;
}

function plural(unit: string, numbers: readonly number[]): string {
  return `${unit}${numbers.length === 1 ? '' : 's'} ${listed(numbers.map(String))}`;
}

function listed(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function ordinal(number: number): string {
  const rest = number % 100 > 10 && number % 100 < 14 ? 0 : number % 10;
  return `${number}${['th', 'st', 'nd', 'rd'][rest] ?? 'th'}`;
}

const twoDigits = (number: number): string => String(number).padStart(2, '0');
