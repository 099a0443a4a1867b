/** Seeded bugs of schedules: run times that fire twice, not at all, or at the wrong time. */
const rules = ['src/core/schedules/schedule-rule.test.ts'];
const plans = ['src/core/schedules/schedule-plan.test.ts'];
const firing = ['test/contract/memory.test.ts'];
const years = ['test/contract/schedule-year.test.ts'];

export const schedules = [
  {
    name: 'schedules: a run time that occurs twice in a clock change fires the second time',
    file: 'src/core/schedules/time-zone.ts',
    find: '.sort((one, other) => one - other);\n    const at',
    replace: '.sort((one, other) => other - one);\n    const at',
    suites: rules,
  },
  {
    name: 'schedules: an hourly schedule skips the hour when clocks go back',
    file: 'src/core/schedules/schedule-rule.ts',
    find: 'return cron.hours.length === HOURS ? nextHourly(cron, zone, after) : nextNamed(cron, zone, after);',
    replace: 'return cron.hours.length > HOURS ? nextHourly(cron, zone, after) : nextNamed(cron, zone, after);',
    suites: rules,
  },
  {
    name: 'schedules: run times that were not handled are skipped',
    file: 'src/core/schedules/schedule-plan.ts',
    find: 'mark: taken.at(-1) ?? lastDropped ?? begin,',
    replace: 'mark: slots.at(-1) ?? begin,',
    suites: plans,
  },
  {
    name: 'schedules: a runner that loses the race for a run time adds its jobs too',
    file: 'src/schedules/fire-schedule.ts',
    find: 'turn.schedule !== schedule && !(await putSchedule(store.records, turn.schedule, kept.version))',
    replace:
      'turn.schedule !== schedule && (await putSchedule(store.records, turn.schedule, kept.version)) === undefined',
    suites: firing,
  },
  {
    name: 'schedules: pending jobs of a dead node are dropped',
    file: 'src/schedules/fire-schedule.ts',
    find: '    return isStillPending(await addPending(store, schedule)) ? now + PENDING_MS : now;',
    replace: '    return null;',
    suites: years,
  },
  {
    name: 'schedules: the overlap rule does not check the previous job',
    file: 'src/core/schedules/schedule-plan.ts',
    find: "(schedule.definition.overlap !== 'allow' && isDue(schedule, now))",
    replace: "(schedule.definition.overlap === 'replace' && isDue(schedule, now))",
    suites: years,
  },
];
