/**
 * The run times of a schedule, as moments. Every node computes the same ones. Pure.
 *
 * Daylight saving, for cron rules. A rule refers to the wall clock of its zone.
 * - A rule that names hours fires once for each time it names. A skipped time fires at the first moment after the gap,
 *   because a nightly job must not miss a night; a repeated time fires the first time.
 * - A rule for every hour (hour `*`) follows elapsed hours: a skipped hour has no run times, and a repeated one is an
 *   hour like any other, because "every ten minutes" must not pause for an hour.
 *
 * Intervals are absolute: they count milliseconds, whatever clocks show.
 */
import type { CronRule } from './cron.ts';
import { readCron } from './cron.ts';
import { nextCivil } from './cron-search.ts';
import type { TimeZone } from './time-zone.ts';
import { zoneOf } from './time-zone.ts';

export type ScheduleRule =
  | { readonly kind: 'cron'; readonly cron: string; readonly zone: string }
  /** At `anchorAt`, and every `everyMs` before and after. */
  | { readonly kind: 'every'; readonly everyMs: number; readonly anchorAt: number };

const SECOND_MS = 1_000;
const HOURS = 24;
const MAX_RULES = 1_000;
const rules = new Map<string, CronRule>();

/** Returns the first run time after this moment, or null if there is none. */
export function runTimeAfter(rule: ScheduleRule, after: number): number | null {
  if (rule.kind === 'every') {
    const { everyMs, anchorAt } = rule;
    return anchorAt + (Math.floor((after - anchorAt) / everyMs) + 1) * everyMs;
  }
  const cron = cronOf(rule.cron);
  const zone = zoneOf(rule.zone);
  return cron.hours.length === HOURS ? nextHourly(cron, zone, after) : nextNamed(cron, zone, after);
}

/** Parses an expression that was checked on input; cached, because a node evaluates it every few seconds. */
function cronOf(text: string): CronRule {
  const known = rules.get(text);
  if (known !== undefined) return known;
  const read = readCron(text);
  if (!read.ok) throw new Error(`${text}: ${read.problems.join('; ')}`);
  if (rules.size >= MAX_RULES) rules.clear();
  rules.set(text, read.rule);
  return read.rule;
}

/** `momentOf` is monotonic in the civil time, so the first moment after `after` is the earliest. */
function nextNamed(cron: CronRule, zone: TimeZone, after: number): number | null {
  let civil = zone.civilAt(after);
  for (;;) {
    const next = nextCivil(cron, civil + 1);
    if (next === null) return null;
    const { at } = zone.momentOf(next);
    if (at > after) return at;
    civil = next;
  }
}

function nextHourly(cron: CronRule, zone: TimeZone, after: number): number | null {
  let from = Math.floor(after / SECOND_MS) * SECOND_MS + SECOND_MS;
  for (;;) {
    const next = nextCivil(cron, zone.civilAt(from));
    if (next === null) return null;
    // If clocks step before it comes, they may show the same times again, or never show this one.
    const step = zone.stepWithin(from, next - zone.offsetAt(from));
    if (step === null) {
      const { at, isSkipped } = zone.momentOf(next);
      if (!isSkipped && at >= from) return at;
      // It lies in a gap far ahead, or clocks show it for the second time.
      if (!isSkipped) return next - zone.offsetAt(from);
      from = at;
    } else from = step;
  }
}
