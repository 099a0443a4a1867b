/**
 * Cron expressions: five fields, or six with the seconds first, or a word such as @daily; read into sets of numbers.
 *
 *     second (0-59)? minute (0-59) hour (0-23) day of month (1-31, L) month (1-12, JAN) weekday (0-7, SUN, 5L, 5#2)
 *
 * A field is a list of `*`, a number or name, a range, each with a step. Pure; says what is wrong and where, never throws.
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
  /** Whether a `*` stands in it: see `matchesDay`. */
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

export type ReadCron =
  | { readonly ok: true; readonly rule: CronRule }
  | { readonly ok: false; readonly problems: readonly string[] };

const WORDS: Readonly<Record<string, string>> = {
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

type Say = (problem: string) => void;

export function readCron(text: string): ReadCron {
  const problems: string[] = [];
  const say: Say = (problem) => void problems.push(problem);
  const rule = readFields(wholeText(text, say).split(/\s+/), say);
  return problems.length > 0 || rule === null ? { ok: false, problems } : { ok: true, rule };
}

function wholeText(text: string, say: Say): string {
  const given = text.trim();
  if (!given.startsWith('@')) return given;
  const whole = WORDS[given.toLowerCase()];
  if (whole !== undefined) return whole;
  say(
    given === '@reboot'
      ? '@reboot is no time: add a job when your program starts'
      : `${given} is none of ${Object.keys(WORDS).join(', ')}`,
  );
  return '';
}

function readFields(fields: readonly string[], say: Say): CronRule | null {
  if (fields.length === 1 && fields[0] === '') {
    say('is empty: write five fields such as 30 3 * * *');
    return null;
  }
  if (fields.length !== 5 && fields.length !== 6) {
    say(`has ${fields.length} fields: write five (minute hour day month weekday), or six with the seconds first`);
    return null;
  }
  const [second = '0', minute = '', hour = '', day = '', month = '', weekday = ''] =
    fields.length === 6 ? fields : ['0', ...fields];
  return {
    seconds: numbersOf(second, SECOND, say),
    minutes: numbersOf(minute, MINUTE, say),
    hours: numbersOf(hour, HOUR, say),
    days: daysOf(day, say),
    months: numbersOf(month, MONTH, say),
    weekdays: weekdaysOf(weekday, say),
  };
}

function daysOf(field: string, say: Say): DayField {
  const parts = field.split(',');
  const plain = parts.filter((part) => !/^l$/i.test(part));
  return {
    numbers: plain.length === 0 ? [] : numbersOf(plain.join(','), DAY, say),
    isLast: plain.length < parts.length,
    hasStar: field.includes('*'),
  };
}

function weekdaysOf(field: string, say: Say): WeekdayField {
  const parts = field.split(',');
  const isSpecial = (part: string): boolean => /^\w+(#\w+|(?<=[0-9a-z])l)$/i.test(part) && !isName(part, WEEKDAY);
  const special = parts.filter(isSpecial);
  const plain = parts.filter((part) => !isSpecial(part));
  const numbers = plain.length === 0 ? [] : numbersOf(plain.join(','), WEEKDAY, say);
  const read = (text: string): number => numberOf(text, WEEKDAY, say) % 7;
  return {
    numbers: sorted(numbers.map((day) => day % 7)),
    last: sorted(special.filter((part) => !part.includes('#')).map((part) => read(part.slice(0, -1)))),
    nth: special.filter((part) => part.includes('#')).map((part) => nthOf(part, read, say)),
    hasStar: field.includes('*'),
  };
}

function nthOf(part: string, read: (text: string) => number, say: Say): readonly [number, number] {
  const [weekday = '', n = ''] = part.split('#');
  if (!/^[1-5]$/.test(n)) say(`${part}: a month has at most five of a weekday, so # is followed by 1 to 5`);
  return [read(weekday), Number(n)];
}

function numbersOf(field: string, spec: FieldSpec, say: Say): readonly number[] {
  const found: number[] = [];
  for (const part of field.split(',')) found.push(...rangeOf(part, spec, say));
  return sorted(found);
}

function rangeOf(part: string, spec: FieldSpec, say: Say): readonly number[] {
  const [range = '', step, ...more] = part.split('/');
  if (range === '' || more.length > 0) return wrong(part, spec, say);
  if (step !== undefined && !/^[1-9]\d{0,3}$/.test(step)) {
    say(`${spec.name} ${part}: a step is a whole number from 1`);
    return [];
  }
  const [from = '', to, ...rest] = range.split('-');
  if (rest.length > 0 || (from === '*' && to !== undefined)) return wrong(part, spec, say);
  // A weekday's `*` ends at 6: 7 is the same day as 0.
  const last = spec === WEEKDAY ? 6 : spec.max;
  const first = from === '*' ? spec.min : numberOf(from, spec, say);
  const end = from === '*' || (to === undefined && step !== undefined) ? last : numberOf(to ?? from, spec, say);
  if (end < first) say(`${spec.name} ${part}: a range goes from the lower to the higher`);
  const count = Math.max(0, Math.floor((end - first) / Number(step ?? 1)) + 1);
  return Number.isNaN(count) ? [] : Array.from({ length: count }, (_, place) => first + place * Number(step ?? 1));
}

function wrong(part: string, spec: FieldSpec, say: Say): readonly number[] {
  say(`${spec.name} ${JSON.stringify(part)} is no number, name, range, list or *`);
  return [];
}

function numberOf(text: string, spec: FieldSpec, say: Say): number {
  const place = isName(text, spec) ? (spec.names ?? []).indexOf(text.toUpperCase()) : -1;
  if (place >= 0) return spec.min + place;
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= spec.min && number <= spec.max) return number;
  say(
    /^(\d*W|LW|\?|L-\d+|H.*)$/i.test(text)
      ? `${spec.name} ${text}: W, ?, H and L- are not known here`
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
