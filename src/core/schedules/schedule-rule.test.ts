import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runTimeAfter, type ScheduleRule } from './schedule-rule.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const cron = (text: string, zone = 'UTC'): ScheduleRule => ({ kind: 'cron', cron: text, zone });
const at = (iso: string): number => Date.parse(iso);

/** Returns the run times in (from, to], as ISO texts without their milliseconds. */
function slots(rule: ScheduleRule, from: string, to: string): string[] {
  const found: string[] = [];
  for (let slot = runTimeAfter(rule, at(from)); slot !== null && slot <= at(to); slot = runTimeAfter(rule, slot))
    found.push(new Date(slot).toISOString().replace('.000Z', 'Z'));
  return found;
}

describe('the run times of a cron rule', () => {
  it.each([
    ['*/20 * * * *', '2026-03-01T00:05:00Z', '2026-03-01T01:00:00Z', ['00:20', '00:40', '01:00']],
    ['5-15/5,30 9 * * *', '2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', ['09:05', '09:10', '09:15', '09:30']],
    ['@hourly', '2026-03-01T00:00:00Z', '2026-03-01T02:00:00Z', ['01:00', '02:00']],
  ])('%s', (text, from, to, times) => {
    expect(slots(cron(text), from, to).map((slot) => slot.slice(11, 16))).toEqual(times);
  });

  it.each([
    ['0 0 * * MON-FRI', ['2026-05-01', '2026-05-04', '2026-05-05', '2026-05-06', '2026-05-07']],
    ['0 0 L * *', ['2026-05-31', '2026-06-30', '2026-07-31', '2026-08-31', '2026-09-30']],
    ['0 0 * * 5L', ['2026-05-29', '2026-06-26', '2026-07-31', '2026-08-28', '2026-09-25']],
    ['0 0 * * FRI#2', ['2026-05-08', '2026-06-12', '2026-07-10', '2026-08-14', '2026-09-11']],
    ['0 0 29 FEB *', ['2028-02-29', '2032-02-29', '2036-02-29', '2040-02-29', '2044-02-29']],
    ['0 0 13 * FRI', ['2026-05-01', '2026-05-08', '2026-05-13', '2026-05-15', '2026-05-22']],
    ['0 0 */10 * 7', ['2026-05-31', '2026-06-21', '2026-10-11', '2026-11-01', '2027-01-31']],
    ['@yearly', ['2027-01-01', '2028-01-01', '2029-01-01', '2030-01-01', '2031-01-01']],
  ])('%s falls on these days', (text, days) => {
    const found = slots(cron(text), '2026-04-30T12:00:00Z', '2045-01-01T00:00:00Z').slice(0, 5);
    expect(found.map((slot) => slot.slice(0, 10))).toEqual(days);
  });

  it('accepts seconds as the first of six fields', () => {
    expect(slots(cron('*/30 59 23 * * *'), '2026-05-01T00:00:00Z', '2026-05-02T00:00:00Z')).toEqual([
      '2026-05-01T23:59:00Z',
      '2026-05-01T23:59:30Z',
    ]);
  });

  it('are none if no such day exists', () => {
    expect(runTimeAfter(cron('0 0 30 2 *'), at('2026-01-01T00:00:00Z'))).toBeNull();
    expect(runTimeAfter(cron('0 0 31 4,6,9,11 *'), at('2026-01-01T00:00:00Z'))).toBeNull();
  });
});

describe('daylight saving', () => {
  const spring = ['2026-03-29T00:00:00Z', '2026-03-29T04:00:00Z'] as const;
  const autumn = ['2026-10-24T23:30:00Z', '2026-10-25T03:00:00Z'] as const;

  it('fires a skipped time at the first moment after the gap', () => {
    expect(slots(cron('30 2 * * *', 'Europe/Berlin'), ...spring)).toEqual(['2026-03-29T01:00:00Z']);
    expect(slots(cron('*/20 2,3 * * *', 'Europe/Berlin'), ...spring)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-29T01:20:00Z',
      '2026-03-29T01:40:00Z',
    ]);
  });

  it('fires a repeated time once, the first time', () => {
    expect(slots(cron('30 2 * * *', 'Europe/Berlin'), ...autumn)).toEqual(['2026-10-25T00:30:00Z']);
    expect(slots(cron('0,30 2,3 * * *', 'Europe/Berlin'), ...autumn)).toEqual([
      '2026-10-25T00:00:00Z',
      '2026-10-25T00:30:00Z',
      '2026-10-25T02:00:00Z',
      '2026-10-25T02:30:00Z',
    ]);
  });

  it('lets a rule for every hour follow elapsed hours', () => {
    expect(slots(cron('30 * * * *', 'Europe/Berlin'), ...spring)).toEqual([
      '2026-03-29T00:30:00Z',
      '2026-03-29T01:30:00Z',
      '2026-03-29T02:30:00Z',
      '2026-03-29T03:30:00Z',
    ]);
    expect(slots(cron('30 * * * *', 'Europe/Berlin'), ...autumn)).toEqual([
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:30:00Z',
      '2026-10-25T02:30:00Z',
    ]);
  });

  it('handles half hours, and a day that was left out', () => {
    expect(slots(cron('15 2 * * *', 'Australia/Lord_Howe'), '2026-10-03T00:00:00Z', '2026-10-04T12:00:00Z')).toEqual([
      '2026-10-03T15:30:00Z',
    ]);
    expect(slots(cron('0 12 * * *', 'Pacific/Apia'), '2011-12-29T00:00:00Z', '2012-01-01T00:00:00Z')).toEqual([
      '2011-12-29T22:00:00Z',
      '2011-12-30T10:00:00Z',
      '2011-12-30T22:00:00Z',
      '2011-12-31T22:00:00Z',
    ]);
  });

  it('does not affect intervals', () => {
    const rule: ScheduleRule = { kind: 'every', everyMs: 3_600_000, anchorAt: 600_000 };
    expect(slots(rule, ...spring)).toHaveLength(4);
    expect(slots(rule, ...spring)[0]).toBe('2026-03-29T00:10:00Z');
  });
});

describe('compared with a scan of every minute', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'America/Santiago'];
  const field = (min: number, max: number) =>
    fc.oneof(
      { weight: 2, arbitrary: fc.constant(null) },
      { weight: 3, arbitrary: fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }) },
    );
  const drawn = fc.record({
    zone: fc.constantFrom(...zones),
    minutes: field(0, 59),
    // Small hours, when clocks step.
    hours: field(0, 4),
    days: field(1, 31),
    weekdays: field(0, 6),
    // Around the steps of 2026, and any time.
    from: fc.oneof(
      fc
        .constantFrom('2026-03-08', '2026-03-29', '2026-04-04', '2026-04-05', '2026-09-06', '2026-10-03', '2026-10-25')
        .chain((day) => fc.integer({ min: -18, max: 6 }).map((hours) => at(`${day}T07:00:00Z`) + hours * 3_600_000)),
      fc.integer({ min: at('2024-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') }),
    ),
  });
  type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;
  const SPAN_MS = 2 * DAY_MS;

  it('finds the same run times', () => {
    fc.assert(
      fc.property(drawn, (rule) => {
        const text = [rule.minutes, rule.hours, rule.days, null, rule.weekdays]
          .map((numbers) => numbers?.join(',') ?? '*')
          .join(' ');
        const found: number[] = [];
        const end = rule.from + SPAN_MS;
        for (let slot = runTimeAfter(cron(text, rule.zone), rule.from); slot !== null && slot <= end; ) {
          expect(slot).toBeGreaterThan(found.at(-1) ?? rule.from);
          found.push(slot);
          slot = runTimeAfter(cron(text, rule.zone), slot);
        }
        expect(found).toEqual(walk(rule, end));
      }),
      { numRuns: 150 },
    );
  });

  it('always goes forward', () => {
    fc.assert(
      fc.property(drawn, fc.integer({ min: 0, max: 86_400_000 }), ({ zone, hours, from }, later) => {
        const rule = cron(`*/7 ${hours?.join(',') ?? '*'} * * *`, zone);
        const next = runTimeAfter(rule, from) ?? 0;
        expect(next).toBeGreaterThan(from);
        // Nothing lies between: from any moment before it, the same run time is the next one.
        expect(runTimeAfter(rule, from + Math.floor(((next - from - 1) * later) / 86_400_000))).toBe(next);
      }),
    );
  });

  /**
   * Reads the wall clock minute by minute, from three hours before: the rules of schedule-rule.ts in their plainest
   * form.
   */
  function walk(rule: Drawn, end: number): number[] {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: rule.zone, dateStyle: 'short', timeStyle: 'short' });
    const shown = (moment: number) => format.format(moment).replace(' ', 'T');
    const [begin, seen, found] = [rule.from - 3 * 3_600_000, new Set<string>(), new Set<number>()];
    const first = Math.ceil(begin / MINUTE_MS) * MINUTE_MS;
    let before = at(`${shown(first - MINUTE_MS)}:00Z`);
    for (let moment = first; moment <= end; moment += MINUTE_MS) {
      const civil = at(`${shown(moment)}:00Z`);
      if (rule.hours === null ? fits(rule, civil) : isFirstShown(rule, { before, civil, seen })) found.add(moment);
      seen.add(String(civil));
      before = civil;
    }
    return [...found].filter((moment) => moment > rule.from);
  }

  /** Returns whether clocks reached or skipped a matching time that they had not shown before. */
  function isFirstShown(rule: Drawn, { before, civil, seen }: { before: number; civil: number; seen: Set<string> }) {
    for (let each = Math.min(before + MINUTE_MS, civil); each <= civil; each += MINUTE_MS)
      if (!seen.has(String(each)) && fits(rule, each)) return true;
    return false;
  }

  function fits({ minutes, hours, days, weekdays }: Drawn, civil: number): boolean {
    const date = new Date(civil);
    const has = (numbers: readonly number[] | null, value: number) => numbers?.includes(value) ?? true;
    const [isDay, isWeekday] = [has(days, date.getUTCDate()), has(weekdays, date.getUTCDay())];
    const isDate = days === null || weekdays === null ? isDay && isWeekday : isDay || isWeekday;
    return has(minutes, date.getUTCMinutes()) && has(hours, date.getUTCHours()) && isDate;
  }
});
