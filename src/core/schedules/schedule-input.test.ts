import { describe, expect, it } from 'vitest';
import { newSchedule } from './schedule.ts';
import { jobOfRun, type ScheduleInput, toDefinition } from './schedule-input.ts';
import { readRule } from './schedule-rule-input.ts';

const define = (input: Partial<ScheduleInput>) => toDefinition({ queue: 'q', ...input });

describe('a definition', () => {
  it('has its defaults', () => {
    expect(define({ cron: ' @daily ' })).toEqual({
      rule: { kind: 'cron', cron: '@daily', zone: 'UTC' },
      fromAt: null,
      untilAt: null,
      overlap: 'skip',
      catchUpMs: 86_400_000,
      backlog: 1,
      jitterMs: 0,
      ids: 'slot',
      job: { queue: 'q', data: 'null', options: {} },
    });
  });

  it('counts an interval from the epoch, or from its start', () => {
    expect(define({ every: '15m', offset: '5m' }).rule).toMatchObject({ everyMs: 900_000, anchorAt: 300_000 });
    expect(define({ every: '15m', offset: '5m', from: '2026-01-01T00:00:00Z' }).rule).toMatchObject({
      anchorAt: Date.parse('2026-01-01T00:05:00Z'),
    });
  });

  it.each<[string, Partial<ScheduleInput>, string]>([
    ['no rule', {}, 'cron: or every is missing'],
    ['two rules', { cron: '@daily', every: '1h' }, 'every: and cron both set the run times'],
    ['a day that never comes', { cron: '0 0 30 2 *' }, 'cron: never fires: there is no such day'],
    ['a leap day before the end', { cron: '0 0 29 2 *', from: '2026-01-01', until: '2027-12-31' }, 'never fires'],
    [
      'a zone that does not exist',
      { cron: '@daily', zone: 'Europe/Atlantis' },
      'zone: must be an IANA time zone such as',
    ],
    ['an offset for a zone', { cron: '@daily', zone: '+02:00' }, 'zone: must be an IANA time zone'],
    ['a zone for an interval', { every: '1h', zone: 'Europe/Berlin' }, 'zone: is only allowed with cron'],
    ['an interval under a second', { every: 999 }, 'every: must be at least a second, not 999'],
    ['a backlog of nothing', { every: '1h', backlog: 0 }, 'backlog: must be at least 1, or null for all'],
    ['jitter as long as the interval', { every: '1h', jitter: '1h' }, 'jitter: must be shorter than the interval'],
    [
      'an end before the beginning',
      { every: '1h', from: '2026-02-01', until: '2026-01-01' },
      'until: must not be before from',
    ],
    ['an id for its jobs', { every: '1h', options: { id: 'x' } as never }, 'options.id: is not known'],
    ['a policy mistyped', { every: '1h', overlap: 'skp' as never }, 'did you mean skip?'],
    ['too few fields', { cron: '0 0 *' }, 'cron: has 3 fields: write five'],
    ['a minute 60', { cron: '60 * * * *' }, 'cron: minute "60" must be 0 to 59'],
    ['a range backwards', { cron: '0 0 * * FRI-MON' }, 'a range must go from the lower to the higher value'],
    ['a step of nothing', { cron: '*/0 * * * *' }, 'a step is a whole number from 1'],
    ['a sixth Friday', { cron: '0 0 * * 5#6' }, '5#6: a month has at most five of a weekday'],
    ['an extension of other crons', { cron: '0 0 15W * *' }, '15W: W, ?, H and L- are not supported'],
    ['@reboot', { cron: '@reboot' }, '@reboot is not a time'],
    ['@dayly', { cron: '@dayly' }, '@dayly is not one of @yearly'],
    ['nothing', { cron: '' }, 'cron: is empty'],
  ])('is rejected with %s', (_what, input, problem) => {
    expect(() => define(input)).toThrow(problem);
  });

  it('has all of its problems reported at once', () => {
    expect(() => toDefinition({ cron: '61 24 * * *', zone: 'x', backlog: 0 } as never)).toThrow(
      /minute "61".*hour "24".*zone.*backlog.*queue: is missing/s,
    );
  });
});

it('creates jobs with its options, their run time and its tag', () => {
  const definition = define({ every: '1h', data: { a: 1 }, options: { tags: ['x'], maxRuntime: '5m', priority: 2 } });
  const job = jobOfRun(newSchedule('s', definition, 0), { id: 's-1', slot: 5, runAt: 7 });
  expect(job).toEqual({
    id: 's-1',
    queue: 'q',
    data: '{"a":1}',
    priority: 2,
    runAt: 7,
    tags: ['x', 'schedule:s'],
    policy: { maxRuntimeMs: 300_000 },
  });
});

it('checks a rule without a schedule', () => {
  expect(readRule({ cron: '@hourly' }).rule).toEqual({ kind: 'cron', cron: '@hourly', zone: 'UTC' });
  expect(() => readRule({ zone: 'UTC' })).toThrow('rule: cron: or every is missing');
});
