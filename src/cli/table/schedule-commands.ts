/** Commands for schedules. */
import { OVERLAPS } from '../../core/schedules/schedule.ts';
import type { CommandSpec } from './command-spec.ts';
import { JSON_OUTPUT, TARGET, YES } from './command-spec.ts';

export const SCHEDULE_VERBS = ['show', 'set', 'pause', 'resume', 'run', 'delete', 'explain'] as const;

export const SCHEDULE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'schedule',
    usage: [
      '',
      'show NAME',
      'set NAME --queue QUEUE (--cron CRON [--zone ZONE] | --every TIME [--offset TIME]) [DATA]',
      'pause NAME [--note TEXT]',
      'resume NAME',
      'run NAME',
      'delete NAME [--yes]',
      'explain (--cron CRON [--zone ZONE] | --every TIME [--offset TIME])',
    ],
    summary: 'list, create, change, pause, run or delete schedules, or explain a rule',
    description:
      'CRON has five fields, or six with seconds first, or is @hourly, @daily, @weekly, @monthly or @yearly.\nset replaces the whole schedule: options that are not given get their defaults. Repeating it changes nothing.',
    options: {
      queue: { type: 'text', value: 'QUEUE', completes: 'queue', description: 'queue of the jobs' },
      cron: { type: 'text', value: 'CRON', description: 'cron expression' },
      zone: {
        type: 'text',
        value: 'ZONE',
        description: 'time zone of the cron expression, such as Europe/Berlin (default: UTC)',
      },
      every: { type: 'text', value: 'TIME', description: 'interval, such as 15m' },
      offset: { type: 'text', value: 'TIME', description: 'offset of the run time within the interval' },
      from: { type: 'text', value: 'WHEN', description: 'ISO time before which nothing runs' },
      until: { type: 'text', value: 'WHEN', description: 'ISO time after which nothing runs' },
      overlap: {
        type: 'text',
        value: 'POLICY',
        completes: OVERLAPS,
        description: `if the previous job has not ended: ${OVERLAPS.join(', ')} (default: skip)`,
      },
      'catch-up': { type: 'text', value: 'TIME', description: 'how late a missed run time is still run (default: 1d)' },
      backlog: {
        type: 'text',
        value: 'N',
        description: 'how many missed run times are run, or all (default: 1)',
      },
      jitter: { type: 'text', value: 'TIME', description: 'maximum random delay of each job' },
      name: { type: 'text', value: 'TEXT', description: 'display name of the jobs' },
      tag: { type: 'list', value: 'TAG', description: 'tag of the jobs; may be repeated' },
      priority: { type: 'text', value: 'N', description: 'priority of the jobs; a lower number runs first' },
      retries: { type: 'text', value: 'N', description: 'number of retries of each job after a failure' },
      note: { type: 'text', value: 'TEXT', description: 'with pause: reason, shown with the schedule' },
      ...YES,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      {
        line: `longhaul schedule set nightly --queue films --cron '30 3 * * *' --zone Europe/Berlin`,
        description: 'add a job every night at 03:30',
      },
      { line: 'longhaul schedule', description: 'list schedules with their next and last run times' },
      { line: `longhaul schedule explain --cron '*/10 9-17 * * MON-FRI'`, description: 'explain a rule' },
      { line: 'longhaul schedule pause nightly --note holidays', description: 'add no jobs until it is resumed' },
      { line: 'longhaul schedule run nightly', description: 'add one job now and print its id' },
      { line: 'longhaul schedule delete nightly --yes', description: 'delete the schedule; its jobs stay' },
    ],
    completes: SCHEDULE_VERBS,
    load: async () => (await import('../commands/queues/schedule.ts')).schedule,
  },
];
