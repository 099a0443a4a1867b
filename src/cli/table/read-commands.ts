/** Commands that only read. */
import { JOB_STATES } from '../../core/job/job.ts';
import { LABELS } from '../../core/job/label.ts';
import { SPAN_NAMES } from '../../core/statistics/series.ts';
import type { CommandSpec, OptionSpecs } from './command-spec.ts';
import { JSON_OUTPUT, TARGET } from './command-spec.ts';

const PAGE: OptionSpecs = {
  limit: { type: 'text', short: 'n', value: 'N', description: 'maximum number of jobs (default: 20)' },
  after: { type: 'text', value: 'CURSOR', description: 'cursor of the previous page' },
};

export const READ_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'ls',
    usage: ['[QUEUE] [--state STATE] [--tag TAG] …'],
    summary: 'list jobs, newest first',
    options: {
      state: { type: 'text', value: 'STATE', completes: JOB_STATES, description: `one of ${JOB_STATES.join(', ')}` },
      label: { type: 'text', value: 'LABEL', completes: LABELS, description: `one of ${LABELS.join(', ')}` },
      tag: { type: 'text', value: 'TAG', description: 'only jobs with this tag' },
      name: { type: 'text', value: 'NAME', description: 'only jobs with this name' },
      worker: { type: 'text', value: 'ID', description: 'only jobs that this worker runs' },
      group: { type: 'text', value: 'GROUP', description: 'only jobs of this failure group' },
      queue: { type: 'text', value: 'QUEUE', completes: 'queue', description: 'only jobs of this queue, as QUEUE' },
      ...PAGE,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul ls films --state failed', description: 'list the failed jobs of a queue' },
      { line: 'longhaul ls --json --limit 3', description: 'print the newest three jobs as JSON' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/jobs/ls.ts')).ls,
  },
  {
    name: 'show',
    usage: ['ID'],
    summary: 'show one job: state, data, counters, steps, files and history',
    options: { ...JSON_OUTPUT, ...TARGET },
    examples: [{ line: 'longhaul show film-7', description: 'show one job' }],
    completes: 'job',
    load: async () => (await import('../commands/jobs/show.ts')).show,
  },
  {
    name: 'logs',
    usage: ['ID [-f] [--attempt N] [--search TEXT]'],
    summary: 'print the log of a job',
    description:
      'Prints the log of the latest attempt, or of the one that --attempt names. Escape sequences other than colours are removed;\n--raw keeps them, but not on a terminal.',
    options: {
      follow: { type: 'flag', short: 'f', description: 'follow the log until the job ends; Ctrl-C stops' },
      attempt: { type: 'text', value: 'N', description: 'number of the attempt, from 1' },
      search: { type: 'text', value: 'TEXT', description: 'only lines that contain this text, with line numbers' },
      regex: { type: 'flag', description: 'with --search: TEXT is an extended regular expression' },
      raw: { type: 'flag', description: 'print the bytes unchanged, to a file or a pipe' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul logs film-7', description: 'print the whole log' },
      { line: 'longhaul logs -f film-4', description: 'follow the log until the job ends' },
      { line: 'longhaul logs film-7 --search frame', description: 'print the lines that contain frame' },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/logs.ts')).logs,
  },
  {
    name: 'search',
    usage: ['TEXT [--queue QUEUE]'],
    summary: 'find jobs by id prefix, tag, name or a searchable field of their data',
    description:
      'The queue setting search names the searchable fields of the data: longhaul queue films search=\'["customer"]\'.',
    options: {
      queue: { type: 'text', value: 'QUEUE', description: 'only jobs of this queue' },
      ...PAGE,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul search film', description: 'find jobs by id prefix, tag or name' }],
    load: async () => (await import('../commands/jobs/search.ts')).search,
  },
  {
    name: 'stats',
    usage: ['[QUEUE] [--by tag|worker] [--days N]', '[QUEUE] --every minute|hour'],
    summary: 'show wait times, run times and failure counts by day (UTC)',
    options: {
      by: {
        type: 'text',
        value: 'WHAT',
        completes: ['queue', 'tag', 'worker'],
        description: 'group by queue, tag or worker',
      },
      days: { type: 'text', value: 'N', description: 'only the last N days (default: all that are kept)' },
      every: {
        type: 'text',
        value: 'SPAN',
        completes: SPAN_NAMES,
        description: 'throughput: by minute for two hours, or by hour for sixty days',
      },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul stats films', description: 'show one queue' },
      { line: 'longhaul stats films --every minute', description: 'show the throughput of a queue' },
      { line: 'longhaul stats --by worker --days 1', description: 'show the work of each worker today' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/queues/stats.ts')).stats,
  },
  {
    name: 'track',
    usage: ['[-f]', 'ID [--off]'],
    summary: 'track a job, list tracked jobs, or follow them',
    options: {
      follow: { type: 'flag', short: 'f', description: 'print every change of a tracked job; Ctrl-C stops' },
      off: { type: 'flag', description: 'stop tracking the job' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul track film-7', description: 'track a job' },
      { line: 'longhaul track', description: 'list tracked jobs' },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/track.ts')).trackJob,
  },
  {
    name: 'top',
    usage: ['[--once]'],
    summary: 'watch running jobs: progress, run time and last log line; q quits',
    options: {
      once: { type: 'flag', description: 'print the table once and exit' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul top --once', description: 'list running jobs' }],
    load: async () => (await import('../commands/jobs/top.ts')).top,
  },
];
