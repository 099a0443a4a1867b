/**
 * Finds the next civil time at which a cron rule fires. Months, days and times that cannot match are skipped whole, so
 * a leap day is found in some hundred steps. Knows no time zone (schedule-rule.ts does). Pure.
 *
 * Invariant: the result is the earliest matching civil time that is not before the given one.
 */
import type { CronRule } from './cron.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** Two leap days on one weekday are at most 40 years apart, even across a century without one. */
const HORIZON_YEARS = 41;

/** Returns null if the rule does not fire within forty years, which means never. */
export function nextCivil(rule: CronRule, from: number): number | null {
  const start = Math.ceil(from / SECOND_MS) * SECOND_MS;
  const midnight = Math.floor(start / DAY_MS) * DAY_MS;
  if (matchesDay(rule, midnight)) {
    const time = timeFrom(rule, start - midnight);
    if (time !== null) return midnight + time;
  }
  const day = nextDay(rule, midnight + DAY_MS);
  return day === null ? null : day + (timeFrom(rule, 0) ?? 0);
}

/** Returns the first matching time of a day that is not before this one, in milliseconds since midnight. */
function timeFrom({ hours, minutes, seconds }: CronRule, time: number): number | null {
  const [first = 0] = minutes;
  const [firstSecond = 0] = seconds;
  const hour = Math.floor(time / HOUR_MS);
  if (hours.includes(hour)) {
    const within = withinHour(minutes, seconds, time - hour * HOUR_MS);
    if (within !== null) return hour * HOUR_MS + within;
  }
  const next = hours.find((each) => each > hour);
  return next === undefined ? null : next * HOUR_MS + first * MINUTE_MS + firstSecond * SECOND_MS;
}

function withinHour(minutes: readonly number[], seconds: readonly number[], time: number): number | null {
  const minute = Math.floor(time / MINUTE_MS);
  const second = (time - minute * MINUTE_MS) / SECOND_MS;
  const sameMinute = minutes.includes(minute) ? seconds.find((each) => each >= second) : undefined;
  if (sameMinute !== undefined) return minute * MINUTE_MS + sameMinute * SECOND_MS;
  const next = minutes.find((each) => each > minute);
  return next === undefined ? null : next * MINUTE_MS + (seconds[0] ?? 0) * SECOND_MS;
}

function nextDay(rule: CronRule, from: number): number | null {
  const begin = new Date(from);
  const [year, month] = [begin.getUTCFullYear(), begin.getUTCMonth()];
  for (let months = 0; months <= HORIZON_YEARS * 12; months++) {
    const [first, next] = [Date.UTC(year, month + months, 1), Date.UTC(year, month + months + 1, 1)];
    if (!rule.months.includes(((month + months) % 12) + 1)) continue;
    for (let day = Math.max(first, from); day < next; day += DAY_MS) if (matchesDay(rule, day)) return day;
  }
  return null;
}

/** Applies the rule of crontab(5): if the day or the weekday contains a `*`, both must match; otherwise either. */
function matchesDay(rule: CronRule, midnight: number): boolean {
  const date = new Date(midnight);
  if (!rule.months.includes(date.getUTCMonth() + 1)) return false;
  const { days, weekdays } = rule;
  const [isDay, isWeekday] = [matchesDate(rule, date), matchesWeekday(rule, date)];
  return days.hasStar || weekdays.hasStar ? isDay && isWeekday : isDay || isWeekday;
}

function matchesDate({ days }: CronRule, date: Date): boolean {
  return days.numbers.includes(date.getUTCDate()) || (days.isLast && daysLeft(date) === 0);
}

function matchesWeekday({ weekdays }: CronRule, date: Date): boolean {
  const weekday = date.getUTCDay();
  if (weekdays.numbers.includes(weekday)) return true;
  if (weekdays.last.includes(weekday) && daysLeft(date) < WEEK_DAYS) return true;
  const n = Math.ceil(date.getUTCDate() / WEEK_DAYS);
  return weekdays.nth.some(([day, nth]) => day === weekday && nth === n);
}

function daysLeft(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate() - date.getUTCDate();
}
