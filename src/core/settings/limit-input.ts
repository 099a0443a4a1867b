/** Input checks of limits: keys, throttles and rates. Every problem has a message. */
import type { Check, Report } from '../input/check.ts';
import { duration, fields, flag, integer, listOf, mapOf, object, orNull, show, size, text } from '../input/check.ts';
import type { Duration } from '../input/duration.ts';
import { parseDuration } from '../input/duration.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import type { Size } from '../input/size.ts';
import type { ThrottleSettings } from '../limits/bucket.ts';
import type { Resources } from '../limits/resources.ts';
import { needsText } from '../limits/resources.ts';
import type { CoalesceSettings, KeySettings, Rate, StoredLogLimits } from './settings.ts';
import { DEFAULT_SETTINGS } from './settings.ts';

export interface KeysInput {
  /** A field of the data, or several: 'tenant', ['tenant', 'user.id']. */
  by?: string | readonly string[];
  /** How many jobs of one key run at once. Default: no limit; keys only take turns. */
  limit?: number | null;
}

/** A field of the data, or several: jobs with equal values in all of them are equal. */
export type CoalesceInput =
  | string
  | readonly string[]
  | {
      by: string | readonly string[];
      /** Coalesces jobs that are scheduled for later too. */
      scheduled?: boolean;
    };

/** Amounts of resources of any name: `{ cpu: 2, memoryMb: 4096, gpu: 1 }`. */
export type ResourcesInput = Resources;

/** `'100/1m'` is the same as `{ count: 100, per: '1m' }`. */
export type RateInput = string | { count: number; per: Duration };

export const MAX_SLOTS = 1_000_000;
const CONTROL = '\\u0000-\\u001f\\u007f';

export const slotCount: Check<number> = integer(1, MAX_SLOTS);

export const throttleName: Check<string> = text({
  max: 128,
  pattern: /^[A-Za-z0-9_][A-Za-z0-9_.:~-]*$/,
  must: 'must begin with a letter, digit or _ and continue with those or . : ~ -',
});
export const throttleNames: Check<readonly string[]> = listOf(throttleName, 20);

export const keyText: Check<string> = text({
  max: 512,
  pattern: new RegExp(`^[^${CONTROL}]+$`),
  must: 'must be 1 to 512 characters without control characters',
});

const fieldPath = text({
  max: 256,
  pattern: new RegExp(`^[^.${CONTROL}]+(\\.[^.${CONTROL}]+)*$`),
  must: "must be the path of a field, such as 'tenant' or 'user.id'",
});
const paths = listOf(fieldPath, 5);
const by: Check<readonly string[]> = described(
  { anyOf: [schemaOf(fieldPath), schemaOf(paths)] },
  (value: unknown, report: Report, path: string) =>
    typeof value === 'string' ? [fieldPath(value, report, path)] : paths(value, report, path),
);
const keysRule = fields({}, { by, limit: orNull(slotCount) });
export const keys: Check<KeySettings> = described(
  schemaOf(keysRule),
  (value: unknown, report: Report, path: string) => {
    const given = keysRule(value, report, path) ?? {};
    return { by: given.by ?? [], limit: given.limit ?? null };
  },
);

const coalesceRule = fields({ by }, { scheduled: flag });
export const coalesce: Check<CoalesceSettings> = described(
  { anyOf: [schemaOf(by), schemaOf(coalesceRule)] },
  (value: unknown, report: Report, path: string) => {
    const isBare = typeof value === 'string' || Array.isArray(value);
    const given = coalesceRule(isBare ? { by: value } : value, report, path);
    if (given?.by?.length === 0) report(path, "must name a field of the data, such as 'tenant' or 'user.id'");
    return { by: given?.by ?? [], ...(given?.scheduled === true && { scheduled: true }) };
  },
);

const unitName = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;
const unitCounts = mapOf(integer(0, 1_000_000_000), 20);
/** `{ cpu: 2, gpu: 1 }`, as the text of limits/resources.ts. */
export const units: Check<string> = described(schemaOf(unitCounts), (value: unknown, report: Report, path: string) => {
  const given = unitCounts(value, report, path) ?? {};
  for (const name of Object.keys(given))
    if (!unitName.test(name))
      report(`${path}.${name}`, 'must have a name of letters, digits and _ that begins with a letter');
  return needsText(given);
});

const MAX_RATE_PERIOD_MS = 366 * 86_400_000;
function rateOf(count: Check<number>): Check<Rate> {
  const rule = fields({ count, per: duration(1) });
  return described(
    { anyOf: [{ type: 'string', description: "such as '100/1m'" }, schemaOf(rule)] },
    (value: unknown, report: Report, path: string): Rate => {
      const given = rule(typeof value === 'string' ? fromText(value, report, path) : value, report, path);
      if (given?.per !== undefined && given.per > MAX_RATE_PERIOD_MS)
        report(path, 'must have a period of at most a year');
      return { count: given?.count ?? 1, ms: given?.per ?? 1 };
    },
  );
}

export const rate: Check<Rate> = rateOf(slotCount);
/** The largest count of a throttle's rate, which counts costs. */
const MAX_COST = 1_000_000_000;

function fromText(value: string, report: Report, path: string): unknown {
  const [, count, per = ''] = /^(\d{1,10})\/(.+)$/.exec(value) ?? [];
  const isRight = count !== undefined && parseDuration(per) !== null;
  if (!isRight) report(path, `must be a count and a period, such as '100/1m' or '5/1h30m', not ${show(value)}`);
  return isRight ? { count: Number(count), per } : { count: 1, per: 1 };
}

/** What a named throttle limits: slots, the rate of starts, or both. */
export interface ThrottleInput {
  /** How many jobs may hold a slot at once. Default: no limit. */
  max?: number | null;
  /** How much may start in a period: `'60/1m'`. Default: no limit. */
  rate?: RateInput | null;
  /** The data field or fields that make the key: each key has the whole rate. Default: one rate for all jobs. */
  by?: string | readonly string[];
  /** The data field with the cost of a job. Default: each job costs 1. */
  cost?: string;
}

const throttleRule = fields(
  {},
  { max: orNull(slotCount), rate: orNull(rateOf(integer(1, MAX_COST))), by, cost: fieldPath },
);
/** The limits of a throttle as an object. */
export const throttleLimits: Check<ThrottleSettings> = described(
  { anyOf: [['max'], ['rate']].map((required) => ({ ...schemaOf(throttleRule), required })) },
  (value: unknown, report: Report, path: string): ThrottleSettings => {
    let problems = 0;
    const counted: Report = (...problem) => {
      problems += 1;
      report(...problem);
    };
    const given = throttleRule(value, counted, path) ?? {};
    const [max, ofRate] = [given.max ?? null, given.rate ?? null];
    if (problems === 0) reportMissing(value as ThrottleInput, report, path);
    return {
      ...(max !== null && { max }),
      ...(ofRate !== null && { rate: ofRate }),
      ...(given.by !== undefined && given.by.length > 0 && { by: given.by }),
      ...(given.cost !== undefined && { cost: given.cost }),
    };
  },
);

function reportMissing(given: ThrottleInput, report: Report, path: string): void {
  const isSet = (name: keyof ThrottleInput) => (given[name] ?? null) !== null;
  const pathOf = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (!isSet('max') && !isSet('rate')) report(pathOf('max'), "must be set, or a rate such as '60/1m', or both");
  else if (!isSet('rate'))
    for (const name of ['by', 'cost'] as const) if (isSet(name)) report(pathOf(name), 'needs a rate');
}

/** As throttleLimits; a maximum alone is a number. */
export const throttleSettings: Check<ThrottleSettings> = described(
  { anyOf: [schemaOf(slotCount), schemaOf(throttleLimits)] },
  (value: unknown, report: Report, path: string): ThrottleSettings =>
    typeof value === 'number'
      ? { max: slotCount(value, report, path) ?? null }
      : (throttleLimits(value, report, path) ?? {}),
);

export interface StoredLogsInput {
  attempt?: Size;
  queue?: Size;
}

const MIN_LOG_BYTES = 4_096;
const storedLogRule = object({ attempt: size, queue: size });
/** `{ attempt: '1mb', queue: '64mb' }`. */
export const storedLogs: Check<StoredLogLimits> = described(
  schemaOf(storedLogRule),
  (value: unknown, report: Report, path: string): StoredLogLimits => {
    const limits = { ...DEFAULT_SETTINGS.storedLogs, ...storedLogRule(value, report, path) };
    for (const name of ['attempt', 'queue'] as const)
      if (limits[name] < MIN_LOG_BYTES) report(`${path}.${name}`, `must be at least ${MIN_LOG_BYTES} bytes`);
    return limits;
  },
);
