/**
 * When a schedule fires: its *slots*, as moments. Every node works out the same ones. Pure.
 *
 * Daylight saving, for cron rules. The rule speaks of what clocks on the wall show in its zone.
 * - A rule that names hours fires once for each time it names. A time that clocks skip fires at the first moment after
 *   the gap, since a nightly job must not be left out for a night; one that they show twice fires the first time.
 * - A rule of every hour (hour `*`) goes by the hours as they pass: a skipped hour has no slots, and a repeated one is
 *   an hour like any other, since "every ten minutes" must not fall silent for an hour.
 * Intervals are absolute: they count milliseconds, whatever clocks show.
 */
import type { CronRule } from './cron.ts';
import { readCron } from './cron.ts';
import { nextCivil } from './cron-search.ts';
import type { TimeZone } from './time-zone.ts';
import { zoneOf } from './time-zone.ts';

export type ScheduleRule =
  | { readonly kind: 'cron'; readonly cron: string; readonly zone: string }
  /** At anchor, and every so often before and after. */
  | { readonly kind: 'every'; readonly everyMs: number; readonly anchorAt: number };

const SECOND_MS = 1_000;
const HOURS = 24;
const MOST_RULES = 1_000;
const rules = new Map<string, CronRule>();

/** The first slot after this moment, or null where there is none. */
export function slotAfter(rule: ScheduleRule, after: number): number | null {
  if (rule.kind === 'every') {
    const { everyMs, anchorAt } = rule;
    return anchorAt + (Math.floor((after - anchorAt) / everyMs) + 1) * everyMs;
  }
  const cron = cronOf(rule.cron);
  const zone = zoneOf(rule.zone);
  return cron.hours.length === HOURS ? nextHourly(cron, zone, after) : nextNamed(cron, zone, after);
}

/** What was checked when it came in, read again; kept, since a node asks every few seconds. */
function cronOf(text: string): CronRule {
  const known = rules.get(text);
  if (known !== undefined) return known;
  const read = readCron(text);
  if (!read.ok) throw new Error(`${text}: ${read.problems.join('; ')}`);
  if (rules.size >= MOST_RULES) rules.clear();
  rules.set(text, read.rule);
  return read.rule;
}

/** `momentOf` never goes back as the civil time goes on, so the first one after `after` is the least. */
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
    // Where clocks step before it comes, they may show the same times again, or never show this one.
    const step = zone.stepWithin(from, next - zone.offsetAt(from));
    if (step === null) {
      const { at, isSkipped } = zone.momentOf(next);
      if (!isSkipped && at >= from) return at;
      // It lies in a gap far ahead, or this is the second time that clocks show it.
      if (!isSkipped) return next - zone.offsetAt(from);
      from = at;
    } else from = step;
  }
}
