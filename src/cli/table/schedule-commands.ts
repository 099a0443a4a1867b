/** Schedules: what shall happen again and again. */
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
    summary: 'list schedules, make or change one, pause it, run it now, or explain a rule',
    about:
      'CRON is five fields, six with the seconds first, or @hourly, @daily, @weekly, @monthly, @yearly.\nset says the whole schedule: what it does not name has its default. The same again changes nothing.',
    options: {
      queue: { type: 'text', value: 'QUEUE', completes: 'queue', about: 'where its jobs go' },
      cron: { type: 'text', value: 'CRON', about: 'when, as cron says it' },
      zone: { type: 'text', value: 'ZONE', about: 'the time zone of the cron, such as Europe/Berlin; else UTC' },
      every: { type: 'text', value: 'TIME', about: 'how often, such as 15m' },
      offset: { type: 'text', value: 'TIME', about: 'how long after each beginning of the interval' },
      from: { type: 'text', value: 'WHEN', about: 'not before this ISO time' },
      until: { type: 'text', value: 'WHEN', about: 'not after this ISO time' },
      overlap: {
        type: 'text',
        value: 'POLICY',
        completes: OVERLAPS,
        about: `when the job before has not ended: ${OVERLAPS.join(', ')}; skip unless told`,
      },
      'catch-up': { type: 'text', value: 'TIME', about: 'how late it may still be made up; 1d unless told' },
      backlog: {
        type: 'text',
        value: 'N',
        about: 'how many that came due together are made up, or all; 1 unless told',
      },
      jitter: { type: 'text', value: 'TIME', about: 'up to how much later each job runs' },
      name: { type: 'text', value: 'TEXT', about: 'a name of its jobs, shown to people' },
      tag: { type: 'list', value: 'TAG', about: 'a tag of its jobs; may be repeated' },
      priority: { type: 'text', value: 'N', about: 'of its jobs; lower runs first' },
      retries: { type: 'text', value: 'N', about: 'how often its jobs are tried again after a failure' },
      note: { type: 'text', value: 'TEXT', about: 'why it is paused, shown to whoever looks' },
      ...YES,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      {
        line: `longhaul schedule set nightly --queue films --cron '30 3 * * *' --zone Europe/Berlin`,
        says: 'a job every night at half past three',
      },
      { line: 'longhaul schedule', says: 'all schedules, with their next and last runs' },
      { line: `longhaul schedule explain --cron '*/10 9-17 * * MON-FRI'`, says: 'what a rule means' },
      { line: 'longhaul schedule pause nightly --note holidays', says: 'makes no jobs until it is resumed' },
      { line: 'longhaul schedule run nightly', says: 'one job of it now; prints its id' },
      { line: 'longhaul schedule delete nightly --yes', says: 'the jobs that it made stay' },
    ],
    completes: SCHEDULE_VERBS,
    load: async () => (await import('../commands/queues/schedule.ts')).schedule,
  },
];
