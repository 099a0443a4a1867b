/** Looking at jobs. */
import { JOB_STATES } from '../../core/job/job.ts';
import { LABELS } from '../../core/job/label.ts';
import { SPAN_NAMES } from '../../core/statistics/series.ts';
import type { CommandSpec } from './command-spec.ts';
import { JSON_OUTPUT, TARGET } from './command-spec.ts';

export const LOOKING_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'ls',
    usage: ['[QUEUE] [--state STATE] [--tag TAG] …'],
    summary: 'list jobs, the newest first',
    options: {
      state: { type: 'text', value: 'STATE', completes: JOB_STATES, about: `one of ${JOB_STATES.join(', ')}` },
      label: { type: 'text', value: 'LABEL', completes: LABELS, about: `one of ${LABELS.join(', ')}` },
      tag: { type: 'text', value: 'TAG', about: 'only those with this tag' },
      name: { type: 'text', value: 'NAME', about: 'only those of this name' },
      worker: { type: 'text', value: 'ID', about: 'only those that this worker runs' },
      group: { type: 'text', value: 'GROUP', about: 'only those of this failure group' },
      limit: { type: 'text', short: 'n', value: 'N', about: 'at most so many; 20 by default' },
      after: { type: 'text', value: 'CURSOR', about: 'the page after the one that ended so' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul ls films --state failed', says: 'what failed in a queue' },
      { line: 'longhaul ls --json --limit 3', says: 'the newest three, for a program' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/jobs/ls.ts')).ls,
  },
  {
    name: 'show',
    usage: ['ID'],
    summary: 'show one job: state, data, counters, files and history',
    options: { ...JSON_OUTPUT, ...TARGET },
    examples: [{ line: 'longhaul show film-7', says: 'everything about one job' }],
    completes: 'job',
    load: async () => (await import('../commands/jobs/show.ts')).show,
  },
  {
    name: 'logs',
    usage: ['ID [-f] [--attempt N] [--search TEXT]'],
    summary: 'print what a job printed',
    about:
      'Of its latest attempt, or of the one you name. Of what a terminal would obey only colours are passed on;\n--raw passes on everything, but never to a terminal.',
    options: {
      follow: { type: 'flag', short: 'f', about: 'go on until the job has ended; Ctrl-C stops looking' },
      attempt: { type: 'text', value: 'N', about: 'of this attempt, from 1' },
      search: { type: 'text', value: 'TEXT', about: 'only the lines that hold this text, with their numbers' },
      regex: { type: 'flag', about: 'the text of --search is an extended regular expression' },
      raw: { type: 'flag', about: 'byte for byte, into a file or a pipe' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul logs film-7', says: 'all of it' },
      { line: 'longhaul logs -f film-4', says: 'as it is written, to its end' },
      { line: 'longhaul logs film-7 --search frame', says: 'the lines with the word frame' },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/logs.ts')).logs,
  },
  {
    name: 'search',
    usage: ['WORDS [--queue QUEUE]'],
    summary: 'find jobs by the beginning of an id, a tag, a name, or a searchable field of their data',
    about:
      'Which fields of the data are searchable is a setting of the queue: longhaul queue films search=\'["customer"]\'.',
    options: {
      queue: { type: 'text', value: 'QUEUE', about: 'only in this queue' },
      limit: { type: 'text', short: 'n', value: 'N', about: 'at most so many; 20 by default' },
      after: { type: 'text', value: 'CURSOR', about: 'the page after the one that ended so' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul search film', says: 'whatever begins or is named so' }],
    load: async () => (await import('../commands/jobs/search.ts')).search,
  },
  {
    name: 'stats',
    usage: ['[QUEUE] [--by tag|worker] [--days N]', '[QUEUE] --every minute|hour'],
    summary: 'how long jobs waited and ran, day by day (UTC), and how often they ended badly',
    options: {
      by: { type: 'text', value: 'WHAT', completes: ['queue', 'tag', 'worker'], about: 'queue, tag or worker' },
      days: { type: 'text', value: 'N', about: 'only the last N days; as many as are kept by default' },
      every: {
        type: 'text',
        value: 'SPAN',
        completes: SPAN_NAMES,
        about: 'how many ended, by minute for two hours or by hour for sixty days',
      },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul stats films', says: 'one queue' },
      { line: 'longhaul stats films --every minute', says: 'its throughput over time' },
      { line: 'longhaul stats --by worker --days 1', says: 'what each worker did today' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/queues/stats.ts')).stats,
  },
  {
    name: 'track',
    usage: ['[-f]', 'ID [--off]'],
    summary: 'mark a job as one to keep an eye on, list those that are, or follow them',
    options: {
      follow: {
        type: 'flag',
        short: 'f',
        about: 'a line for every change of a tracked job, as it happens; Ctrl-C stops looking',
      },
      off: { type: 'flag', about: 'take the mark away' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul track film-7', says: 'marks it' },
      { line: 'longhaul track', says: 'lists the marked ones' },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/track.ts')).trackJob,
  },
  {
    name: 'top',
    usage: ['[--once]'],
    summary: 'watch the running jobs: progress, time, last line; q quits',
    options: {
      once: { type: 'flag', about: 'print the table once and end' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul top --once', says: 'what runs now' }],
    load: async () => (await import('../commands/jobs/top.ts')).top,
  },
];
