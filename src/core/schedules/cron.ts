/**
 * Cron expressions: five fields, or six with the seconds first, or a word such as @daily; parsed into sets of numbers.
 *
 *     second (0-59)? minute (0-59) hour (0-23) day of month (1-31, L) month (1-12, JAN) weekday (0-7, SUN, 5L, 5#2)
 *
 * A field is a list of `*`, a number or name, a range, each with a step. Pure; reports problems with their field, never
 * throws.
 */
export interface CronRule {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: DayField;
  readonly months: readonly number[];
  readonly weekdays: WeekdayField;
}

export interface DayField {
  readonly numbers: readonly number[];
  /** `L`: the last day of the month. */
  readonly isLast: boolean;
  /** Whether the field contains a `*`: see `matchesDay`. */
  readonly hasStar: boolean;
}

export interface WeekdayField {
  /** 0 is Sunday. */
  readonly numbers: readonly number[];
  /** `5L`: the last Friday of the month. */
  readonly last: readonly number[];
  /** `5#2`: the second Friday. */
  readonly nth: readonly (readonly [weekday: number, n: number])[];
  readonly hasStar: boolean;
}

export type CronResult =
  | { readonly ok: true; readonly rule: CronRule }
  | { readonly ok: false; readonly problems: readonly string[] };

const ALIASES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

interface FieldSpec {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** From `min` on. */
  readonly names?: readonly string[];
}

const SECOND: FieldSpec = { name: 'second', min: 0, max: 59 };
const MINUTE: FieldSpec = { name: 'minute', min: 0, max: 59 };
const HOUR: FieldSpec = { name: 'hour', min: 0, max: 23 };
const DAY: FieldSpec = { name: 'day of the month', min: 1, max: 31 };
const MONTH: FieldSpec = {
  name: 'month',
  min: 1,
  max: 12,
  names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
};
/** 7 is Sunday too. */
const WEEKDAY: FieldSpec = {
  name: 'weekday',
  min: 0,
  max: 7,
  names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
};

type Report = (problem: string) => void;

export function readCron(text: string): CronResult {
  const problems: string[] = [];
  const report: Report = (problem) => void problems.push(problem);
  const rule = readFields(wholeText(text, report).split(/\s+/), report);
  return problems.length > 0 || rule === null ? { ok: false, problems } : { ok: true, rule };
}

function wholeText(text: string, report: Report): string {
  const given = text.trim();
  if (!given.startsWith('@')) return given;
  const whole = ALIASES[given.toLowerCase()];
  if (whole !== undefined) return whole;
  report(
    given === '@reboot'
      ? '@reboot is not a time: add a job when your program starts'
      : `${given} is not one of ${Object.keys(ALIASES).join(', ')}`,
  );
  return '';
}

function readFields(fields: readonly string[], report: Report): CronRule | null {
  if (fields.length === 1 && fields[0] === '') {
    report('is empty: write five fields such as 30 3 * * *');
    return null;
  }
  if (fields.length !== 5 && fields.length !== 6) {
    report(`has ${fields.length} fields: write five (minute hour day month weekday), or six with the seconds first`);
    return null;
  }
  const [second = '0', minute = '', hour = '', day = '', month = '', weekday = ''] =
    fields.length === 6 ? fields : ['0', ...fields];
  return {
    seconds: numbersOf(second, SECOND, report),
    minutes: numbersOf(minute, MINUTE, report),
    hours: numbersOf(hour, HOUR, report),
    days: daysOf(day, report),
    months: numbersOf(month, MONTH, report),
    weekdays: weekdaysOf(weekday, report),
  };
}

function daysOf(field: string, report: Report): DayField {
  const parts = field.split(',');
  const plain = parts.filter((part) => !/^l$/i.test(part));
  return {
    numbers: plain.length === 0 ? [] : numbersOf(plain.join(','), DAY, report),
    isLast: plain.length < parts.length,
    hasStar: field.includes('*'),
  };
}

function weekdaysOf(field: string, report: Report): WeekdayField {
  const parts = field.split(',');
  const isSpecial = (part: string): boolean => /^\w+(#\w+|(?<=[0-9a-z])l)$/i.test(part) && !isName(part, WEEKDAY);
  const special = parts.filter(isSpecial);
  const plain = parts.filter((part) => !isSpecial(part));
  const numbers = plain.length === 0 ? [] : numbersOf(plain.join(','), WEEKDAY, report);
  const read = (text: string): number => numberOf(text, WEEKDAY, report) % 7;
  return {
    numbers: sorted(numbers.map((day) => day % 7)),
    last: sorted(special.filter((part) => !part.includes('#')).map((part) => read(part.slice(0, -1)))),
    nth: special.filter((part) => part.includes('#')).map((part) => nthOf(part, read, report)),
    hasStar: field.includes('*'),
  };
}

function nthOf(part: string, read: (text: string) => number, report: Report): readonly [number, number] {
  const [weekday = '', n = ''] = part.split('#');
  if (!/^[1-5]$/.test(n)) report(`${part}: a month has at most five of a weekday, so # is followed by 1 to 5`);
  return [read(weekday), Number(n)];
}

function numbersOf(field: string, spec: FieldSpec, report: Report): readonly number[] {
  const found: number[] = [];
  for (const part of field.split(',')) found.push(...rangeOf(part, spec, report));
  return sorted(found);
}

function rangeOf(part: string, spec: FieldSpec, report: Report): readonly number[] {
  const [range = '', step, ...more] = part.split('/');
  if (range === '' || more.length > 0) return wrong(part, spec, report);
  if (step !== undefined && !/^[1-9]\d{0,3}$/.test(step)) {
    report(`${spec.name} ${part}: a step is a whole number from 1`);
    return [];
  }
  const [from = '', to, ...rest] = range.split('-');
  if (rest.length > 0 || (from === '*' && to !== undefined)) return wrong(part, spec, report);
  // A weekday's `*` ends at 6: 7 is the same day as 0.
  const last = spec === WEEKDAY ? 6 : spec.max;
  const first = from === '*' ? spec.min : numberOf(from, spec, report);
  const end = from === '*' || (to === undefined && step !== undefined) ? last : numberOf(to ?? from, spec, report);
  if (end < first) report(`${spec.name} ${part}: a range must go from the lower to the higher value`);
  const count = Math.max(0, Math.floor((end - first) / Number(step ?? 1)) + 1);
  return Number.isNaN(count) ? [] : Array.from({ length: count }, (_, index) => first + index * Number(step ?? 1));
}

function wrong(part: string, spec: FieldSpec, report: Report): readonly number[] {
  report(`${spec.name} ${JSON.stringify(part)} is not a number, name, range, list or *`);
  return [];
}

function numberOf(text: string, spec: FieldSpec, report: Report): number {
  const index = isName(text, spec) ? (spec.names ?? []).indexOf(text.toUpperCase()) : -1;
  if (index >= 0) return spec.min + index;
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= spec.min && number <= spec.max) return number;
  report(
    /^(\d*W|LW|\?|L-\d+|H.*)$/i.test(text)
      ? `${spec.name} ${text}: W, ?, H and L- are not supported`
      : `${spec.name} ${JSON.stringify(text)} must be ${spec.min} to ${spec.max}${spec.names ? ` or ${spec.names.join(' ')}` : ''}`,
  );
  return Number.NaN;
}

function isName(text: string, spec: FieldSpec): boolean {
  return (spec.names ?? []).includes(text.toUpperCase());
}

function sorted(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)].sort((one, other) => one - other);
}
