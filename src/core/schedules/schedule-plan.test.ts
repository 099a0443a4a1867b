import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fireAt, newSchedule, type Schedule } from './schedule.ts';
import { type ScheduleInput, toDefinition } from './schedule-input.ts';
import { nextRunAt, planRuns } from './schedule-plan.ts';

const START = Date.parse('2026-01-01T00:00:30Z');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const aSchedule = (input: Partial<ScheduleInput>, now = START): Schedule =>
  newSchedule('s', toDefinition({ queue: 'q', ...input }), now);
const slotsOf = (plan: { adds: readonly { slot: number }[] }) =>
  plan.adds.map(({ slot }) => new Date(slot).toISOString().slice(11, 19));

describe('a plan', () => {
  it('does nothing before the first run time, and returns the very same record', () => {
    const schedule = aSchedule({ cron: '* * * * *' });
    expect(planRuns(schedule, START + 29_999, null).schedule).toBe(schedule);
    expect(slotsOf(planRuns(schedule, START + 30_000, null))).toEqual(['00:01:00']);
  });

  it('covers at most ten thousand missed run times, keeps the newest, and continues at once', () => {
    const schedule = aSchedule({ cron: '* * * * * *', catchUp: '2d', overlap: 'allow', backlog: 2 });
    const now = START + 0.5 * DAY_MS;
    let plan = planRuns(schedule, now, null);
    expect(plan).toMatchObject({ adds: [], more: true });
    for (let plans = 0; plan.more; plans++) {
      expect(plans).toBeLessThan(10);
      plan = planRuns(plan.schedule, now, null);
    }
    expect(slotsOf(plan)).toEqual(['12:00:29', '12:00:30']);
    expect(plan.schedule).toMatchObject({ made: 2, missed: 43_199, mark: now });
  });

  it('counts at most ten thousand run times that are too late', () => {
    const schedule = aSchedule({ cron: '* * * * * *', catchUp: '1m', overlap: 'allow' });
    const plan = planRuns(schedule, START + 300 * DAY_MS, null);
    expect(plan.adds).toHaveLength(1);
    expect(plan.schedule.missed).toBeGreaterThanOrEqual(10_000);
    expect(plan.schedule.mark).toBe(START + 300 * DAY_MS);
  });

  it('makes up all of them, five hundred in a plan, if the backlog has no limit', () => {
    let plan = planRuns(aSchedule({ every: '1s', overlap: 'allow', backlog: null }), START + 1_200_000, null);
    const made = [...plan.adds];
    while (plan.more) {
      plan = planRuns({ ...plan.schedule, pending: [] }, START + 1_200_000, null);
      made.push(...plan.adds);
    }
    expect(new Set(made.map(({ id }) => id)).size).toBe(1_201);
    expect(plan.schedule).toMatchObject({ made: 1_201, missed: 0 });
  });

  it('starts again from now when the clock was set back, and decides nothing twice after a small step', () => {
    const schedule = aSchedule({ cron: '* * * * *', overlap: 'allow' });
    const far = planRuns(schedule, START + 400 * DAY_MS, null).schedule;
    expect(nextRunAt(far)).toBeGreaterThan(START + 399 * DAY_MS);
    const back = planRuns({ ...far, pending: [] }, START + MINUTE_MS, null);
    expect(back.adds).toEqual([]);
    expect(nextRunAt(back.schedule)).toBe(START + 90_000);
    const { schedule: near } = planRuns(schedule, START + 5 * MINUTE_MS, null);
    expect(planRuns({ ...near, pending: [] }, START + 4.5 * MINUTE_MS, null).adds).toEqual([]);
  });

  it('ends with its last run time', () => {
    const schedule = aSchedule({
      every: '1m',
      from: START,
      until: START + 2 * MINUTE_MS,
      backlog: null,
      overlap: 'allow',
    });
    const plan = planRuns(schedule, START + DAY_MS / 2, null);
    expect(plan.adds).toHaveLength(3);
    expect(nextRunAt(plan.schedule)).toBeNull();
  });
});

describe('jitter', () => {
  const spread = aSchedule({ cron: '0 * * * *', jitter: '10m' });

  it('is the same for a run time on every node, within its bounds, and spread over them', () => {
    const delays = Array.from({ length: 500 }, (_, hour) => fireAt(spread, hour * 3_600_000) - hour * 3_600_000);
    expect(fireAt(aSchedule({ cron: '0 * * * *', jitter: '10m' }, 7), 3_600_000)).toBe(fireAt(spread, 3_600_000));
    expect(Math.min(...delays)).toBeLessThan(30_000);
    expect(Math.max(...delays)).toBeGreaterThan(570_000);
    expect(delays.every((delay) => delay >= 0 && delay <= 600_000)).toBe(true);
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    expect(Math.abs(mean - 300_000)).toBeLessThan(30_000);
  });

  it('lets no run time fire early', () => {
    const at = nextRunAt(spread) ?? 0;
    expect(planRuns(spread, at - 1, null).adds).toEqual([]);
    expect(planRuns(spread, at, null).adds).toMatchObject([{ slot: Date.parse('2026-01-01T01:00:00Z'), runAt: at }]);
  });
});

it('decides every run time exactly once, however often and late it is planned', () => {
  const intervals = fc.array(fc.integer({ min: 0, max: 5 * MINUTE_MS }), { minLength: 1, maxLength: 60 });
  const policy = fc.record({
    overlap: fc.constantFrom('skip', 'queue', 'replace', 'allow' as const),
    backlog: fc.constantFrom(1, 2, null),
    jitter: fc.constantFrom(0, 20_000),
    catchUp: fc.constantFrom(0, '2m', '1d'),
  });
  fc.assert(
    fc.property(policy, intervals, fc.infiniteStream(fc.boolean()), (input, pauses, ends) => {
      let schedule = aSchedule({ every: '1m', ...input } as Partial<ScheduleInput>);
      let [now, open] = [START, [] as string[]];
      const ids: string[] = [];
      for (const pause of pauses) {
        now += pause;
        open = open.filter(() => ends.next().value !== true);
        const plan = planRuns(
          schedule,
          now,
          open.map((id) => ({ id, isCancelAsked: false })),
        );
        if (input.overlap !== 'allow')
          expect(plan.adds.length + open.length).toBeLessThanOrEqual(Math.max(1, open.length));
        expect(plan.adds.every(({ runAt }) => runAt <= now)).toBe(true);
        ids.push(...plan.adds.map(({ id }) => id));
        open.push(...plan.adds.map(({ id }) => id));
        schedule = { ...plan.schedule, pending: [] };
      }
      expect(new Set(ids).size).toBe(ids.length);
      const decided = Math.max(0, Math.floor(schedule.mark / MINUTE_MS) - Math.floor((START - 1) / MINUTE_MS));
      expect(schedule.made + schedule.skipped + schedule.missed + schedule.queued.length).toBe(decided);
      expect(schedule.made).toBe(ids.length);
    }),
    { numRuns: 300 },
  );
});
