/**
 * When a schedule shall fire, as somebody says it: checked, with every problem and what would be right, and turned
 * into a rule. A rule that could never fire is refused.
 */
import type { Check, Checked, Report } from '../input/check.ts';
import { checked, duration, object, orNull, show, text, time } from '../input/check.ts';
import type { Duration } from '../input/duration.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import { readCron } from './cron.ts';
import type { BoundedRule } from './schedule.ts';
import { nextSlot } from './schedule.ts';
import type { ScheduleRule } from './schedule-rule.ts';
import { findZone } from './time-zone.ts';

/** `cron` with a `zone`, or `every` with an `offset`. */
export interface RuleInput {
  /** Five fields, six with the seconds first, or @hourly, @daily, @weekly, @monthly, @yearly. */
  cron?: string;
  /** An IANA name such as Europe/Berlin. Default UTC. */
  zone?: string;
  every?: Duration;
  /** After the epoch, or after `from` where that is given. Default 0. */
  offset?: Duration;
  /** No slot before. */
  from?: Date | number | string | null;
  /** No slot after. */
  until?: Date | number | string | null;
}

const LEAST_EVERY_MS = 1_000;

const cron: Check<string> = described(
  { type: 'string', description: 'five fields, six with the seconds first, or a word such as @daily' },
  (value: unknown, report: Report, path: string) => {
    const given = text({ max: 256 })(value, report, path);
    const read = typeof value === 'string' ? readCron(value) : null;
    if (read?.ok === false) for (const problem of read.problems) report(path, problem);
    return given?.trim();
  },
);

const zone: Check<string> = described(
  { type: 'string', description: 'an IANA time zone such as Europe/Berlin' },
  (value: unknown, report: Report, path: string) => {
    if (typeof value === 'string' && findZone(value) !== null) return value;
    report(path, `must be an IANA time zone such as Europe/Berlin or UTC, not ${show(value)}`);
    return 'UTC';
  },
);

const every: Check<number> = described(schemaOf(duration()), (value: unknown, report: Report, path: string) => {
  const ms = duration()(value, report, path);
  if (ms < LEAST_EVERY_MS)
    report(path, `must be at least a second, not ${show(value)}: work without a pause is one long job`);
  return ms;
});

export const RULE_SHAPE = { cron, zone, every, offset: duration(), from: orNull(time), until: orNull(time) };
export type GivenRule = Checked<typeof RULE_SHAPE>;

/** What the parts of a rule must be to one another. */
export function checkRule(given: GivenRule, report: Report, path: string): void {
  const say = (name: string, problem: string): undefined => report(path === '' ? name : `${path}.${name}`, problem);
  if (given.cron === undefined && given.every === undefined)
    say('cron', 'or every is missing: one of them says when it fires');
  if (given.cron !== undefined && given.every !== undefined) say('every', 'and cron both say when; give one of them');
  if (given.cron !== undefined && given.offset !== undefined)
    say('offset', 'goes with every; a cron says it in its fields');
  if (given.cron === undefined && given.zone !== undefined)
    say('zone', 'goes with cron; an interval is the same in every zone');
  if (typeof given.from === 'number' && typeof given.until === 'number' && given.until < given.from)
    say('until', 'must not be before from');
  else if (neverFires(given)) say('cron', `never fires: there is no such day${given.until ? ' before until' : ''}`);
}

function neverFires(given: GivenRule): boolean {
  if (given.cron === undefined || !readCron(given.cron).ok) return false;
  return nextSlot(toRule(given), -1) === null;
}

export function toRule(given: GivenRule): BoundedRule {
  const [fromAt, untilAt] = [given.from ?? null, given.until ?? null];
  const rule: ScheduleRule =
    given.cron === undefined
      ? { kind: 'every', everyMs: given.every ?? LEAST_EVERY_MS, anchorAt: (fromAt ?? 0) + (given.offset ?? 0) }
      : { kind: 'cron', cron: given.cron, zone: given.zone ?? 'UTC' };
  return { rule, fromAt, untilAt };
}

const rules = object(RULE_SHAPE);
const wholeRule: Check<GivenRule> = (value, report, path) => {
  const given = rules(value, report, path);
  if (given !== undefined) checkRule(given, report, path);
  return given;
};

/** A rule alone, for whoever wants to see what it means: looked at, and handed on as it is. */
export const ruleInput: Check<RuleInput> = described(
  schemaOf(rules),
  (value: unknown, report: Report, path: string): RuleInput => {
    wholeRule(value, report, path);
    return value as RuleInput;
  },
);

export function readRule(input: RuleInput): BoundedRule {
  return toRule(checked('rule', input, wholeRule));
}
