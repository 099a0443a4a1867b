/**
 * Input check of the rule of a schedule: reports every problem with the expected value. A rule that never fires is
 * rejected.
 */
import type { Check, Checked, Report } from '../input/check.ts';
import { checked, duration, object, orNull, show, text, time } from '../input/check.ts';
import type { Duration } from '../input/duration.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import { readCron } from './cron.ts';
import type { BoundedRule } from './schedule.ts';
import { nextRunTime } from './schedule.ts';
import type { ScheduleRule } from './schedule-rule.ts';
import { findZone } from './time-zone.ts';

/** `cron` with a `zone`, or `every` with an `offset`. */
export interface RuleInput {
  /** Five fields, six with the seconds first, or @hourly, @daily, @weekly, @monthly, @yearly. */
  cron?: string;
  /** An IANA name such as Europe/Berlin. Default: UTC. */
  zone?: string;
  every?: Duration;
  /** After the epoch, or after `from` if that is given. Default: 0. */
  offset?: Duration;
  /** No run time before. */
  from?: Date | number | string | null;
  /** No run time after. */
  until?: Date | number | string | null;
}

const MIN_INTERVAL_MS = 1_000;

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
  if (ms < MIN_INTERVAL_MS)
    report(path, `must be at least a second, not ${show(value)}: use one long job for continuous work`);
  return ms;
});

export const RULE_SHAPE = { cron, zone, every, offset: duration(), from: orNull(time), until: orNull(time) };
export type GivenRule = Checked<typeof RULE_SHAPE>;

/** Checks the parts of a rule against one another. */
export function checkRule(given: GivenRule, report: Report, path: string): void {
  const reportField = (name: string, problem: string): undefined =>
    report(path === '' ? name : `${path}.${name}`, problem);
  if (given.cron === undefined && given.every === undefined)
    reportField('cron', 'or every is missing: give one of them');
  if (given.cron !== undefined && given.every !== undefined)
    reportField('every', 'and cron both set the run times; give only one of them');
  if (given.cron !== undefined && given.offset !== undefined)
    reportField('offset', 'is only allowed with every; use the fields of a cron');
  if (given.cron === undefined && given.zone !== undefined)
    reportField('zone', 'is only allowed with cron; an interval has no time zone');
  if (typeof given.from === 'number' && typeof given.until === 'number' && given.until < given.from)
    reportField('until', 'must not be before from');
  else if (neverFires(given))
    reportField('cron', `never fires: there is no such day${given.until ? ' before until' : ''}`);
}

function neverFires(given: GivenRule): boolean {
  if (given.cron === undefined || !readCron(given.cron).ok) return false;
  return nextRunTime(toRule(given), -1) === null;
}

export function toRule(given: GivenRule): BoundedRule {
  const [fromAt, untilAt] = [given.from ?? null, given.until ?? null];
  const rule: ScheduleRule =
    given.cron === undefined
      ? { kind: 'every', everyMs: given.every ?? MIN_INTERVAL_MS, anchorAt: (fromAt ?? 0) + (given.offset ?? 0) }
      : { kind: 'cron', cron: given.cron, zone: given.zone ?? 'UTC' };
  return { rule, fromAt, untilAt };
}

const rules = object(RULE_SHAPE);
const wholeRule: Check<GivenRule> = (value, report, path) => {
  const given = rules(value, report, path);
  if (given !== undefined) checkRule(given, report, path);
  return given;
};

/** Checks a rule without a schedule, for a preview of its run times, and returns it unchanged. */
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
