/** Commands that add and change jobs. */
import { ENDED_STATES, JOB_STATES } from '../../core/job/job.ts';
import type { CommandSpec, OptionSpecs } from './command-spec.ts';
import { JSON_OUTPUT, TARGET, YES } from './command-spec.ts';

const OPEN_STATES = JOB_STATES.filter((state) => !(ENDED_STATES as readonly string[]).includes(state));

/** Options of every new job. */
const NEW_JOB: OptionSpecs = {
  id: { type: 'text', value: 'ID', description: 'job id; adding a job with an existing id changes nothing' },
  name: { type: 'text', value: 'TEXT', description: 'display name' },
  tag: { type: 'list', value: 'TAG', description: 'add a tag; may be repeated' },
  priority: { type: 'text', value: 'N', description: 'priority; a lower number runs first' },
  retries: { type: 'text', value: 'N', description: 'number of retries after a failure' },
  needs: { type: 'list', value: 'RESOURCE=N', description: 'required resource, such as gpu=1; may be repeated' },
};

const ADD: OptionSpecs = {
  ...NEW_JOB,
  delay: { type: 'text', value: 'TIME', description: 'earliest start, countBytes from now, such as 10m' },
  after: { type: 'list', value: 'ID', completes: 'job', description: 'start after this job is done; may be repeated' },
  unique: { type: 'text', value: 'KEY', description: 'unique key; if another job holds it, print the id of that job' },
  hook: {
    type: 'list',
    value: '[EVENT,…=]URL',
    description: 'webhook for the end of the job, or for the named events; may be repeated',
  },
  attach: { type: 'list', value: 'FILE', completes: 'file', description: 'attach a file; may be repeated' },
  draft: { type: 'flag', description: 'add a draft; longhaul attach ID --commit releases it' },
  'force-remote': { type: 'flag', description: "send over the network even if the address is the node's own" },
  ...JSON_OUTPUT,
  ...TARGET,
};

const QUEUE = { type: 'text', value: 'QUEUE', completes: 'queue' } as const;

export const JOB_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'run',
    usage: ['[--queue QUEUE] [--detach] -- COMMAND [ARGUMENT]…'],
    summary: 'run a command as a job, follow its output and exit with its status',
    description:
      'The node runs the command in the current directory. The command survives the end of this terminal.\nCtrl-C detaches and prints how to reattach; a second Ctrl-C cancels the job.\nThe command gets PATH, HOME, the locale and the time zone of this shell, and the variables that --env names.\nIts standard input is what a pipe or a file gives to longhaul, which is read to its end first.',
    options: {
      queue: { ...QUEUE, description: 'queue for commands, created if missing (default: run)' },
      detach: { type: 'flag', short: 'd', description: 'print the job id and exit' },
      env: { type: 'list', value: 'NAME[=VALUE]', description: 'environment variable to pass; may be repeated' },
      'no-stdin': { type: 'flag', short: 'n', description: 'do not read standard input' },
      ...NEW_JOB,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul run -- echo hello', description: 'print hello' },
      { line: 'longhaul run -- wc -l < notes.txt', description: 'count the lines of a file' },
      {
        line: 'longhaul run --detach --env DEPTH=3 -- make all',
        description: 'start make in the background and print the job id',
      },
    ],
    load: async () => (await import('../commands/jobs/run.ts')).run,
  },
  {
    name: 'add',
    usage: ['QUEUE [DATA] [--attach FILE]…'],
    summary: 'add a job to a queue',
    description:
      'DATA is JSON (default: null). Prints the id of the job.\nQUEUE may be the address of a queue of another node: see longhaul relay.',
    options: {
      ...ADD,
      create: { type: 'flag', description: 'add the job even if the queue does not exist yet' },
    },
    examples: [
      { line: `longhaul add films '{"param1":"hello"}' --json`, description: 'add a job and print it' },
      { line: 'longhaul add films --id film-1 --attach notes.txt', description: 'add a job with a file' },
      { line: 'longhaul add films --after film-2', description: 'add a job that depends on another job' },
      {
        line: 'longhaul add films --needs cpu=2 --needs gpu=1',
        description: 'add a job for a worker with this free capacity',
      },
      {
        line: 'longhaul add films --hook failed,slow=https://example.com/alarm',
        description: 'call a webhook if the job fails or is slow',
      },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/jobs/add.ts')).add,
  },
  {
    name: 'relay',
    usage: ['ADDRESS [DATA] [--attach FILE]…', ''],
    summary: 'send a job to a queue of another node, or list jobs not yet delivered',
    description:
      'ADDRESS is http://host:3333/q/queue. The node sends the job with its files and retries until it is delivered.\nWithout ADDRESS: list undelivered jobs, their destinations and their last errors.',
    options: ADD,
    examples: [
      {
        line: `longhaul relay http://backup.example:3333/q/archive '{"day":1}' --attach notes.txt`,
        description: 'send a job',
      },
      { line: 'longhaul relay', description: 'list undelivered jobs' },
    ],
    load: async () => (await import('../commands/queues/relay.ts')).relay,
  },
  {
    name: 'cancel',
    usage: ['ID… [--dependents cancel|leave]', '--queue QUEUE [--state STATE] [--dependents cancel|leave] [--yes]'],
    summary: 'cancel jobs, including running ones',
    description:
      'A running job is asked to stop; it is cancelled when all of its processes have ended, or when a\nhandler in a program has not ended after the grace of its queue.\nIf other jobs depend on a job, --dependents decides about them. At a terminal, longhaul asks.',
    options: {
      queue: { ...QUEUE, description: 'cancel all jobs of this queue' },
      state: {
        type: 'text',
        value: 'STATE',
        completes: OPEN_STATES,
        description: 'with --queue: only jobs in this state (default: waiting)',
      },
      dependents: {
        type: 'text',
        value: 'cancel|leave',
        completes: ['cancel', 'leave'],
        description: 'cancel dependent jobs too, or leave them to their own rule',
      },
      ...YES,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul cancel film-5', description: 'cancel one job' },
      {
        line: 'longhaul cancel --queue films --state waiting --yes',
        description: 'cancel all waiting jobs of a queue',
      },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/cancel.ts')).cancel,
  },
  {
    name: 'retry',
    usage: ['ID… [--fresh]', '--failed [--queue QUEUE] [--group GROUP] [--fresh]'],
    summary: 'retry ended jobs',
    options: {
      failed: { type: 'flag', description: 'retry all failed jobs' },
      fresh: { type: 'flag', description: 'clear the checkpoint and the steps first' },
      queue: { ...QUEUE, description: 'with --failed: only jobs of this queue' },
      group: { type: 'text', value: 'GROUP', description: 'with --failed: only jobs of this failure group' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul retry film-9', description: 'retry one job' },
      { line: `longhaul retry --failed --queue films --group 'exit 3'`, description: 'retry a failure group' },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/retry.ts')).retry,
  },
  {
    name: 'notify',
    usage: ['ID NAME [DATA]'],
    summary: 'send an event to a job',
    description:
      'A job that waits for the event resumes with DATA, which is JSON. Any other job keeps the event until it waits for it.\nThe first event of a name counts until the job has read it.',
    options: { ...JSON_OUTPUT, ...TARGET },
    examples: [{ line: `longhaul notify film-8 approval '{"by":"anna"}'`, description: 'approve a job' }],
    completes: 'job',
    load: async () => (await import('../commands/jobs/notify.ts')).notifyJob,
  },
  {
    name: 'attach',
    usage: ['ID FILE…', 'ID --get NAME [-o FILE]', 'ID'],
    summary: 'attach files to a job, download its files, or list them',
    description: 'Only a draft (longhaul add --draft) accepts files, until it is committed.',
    options: {
      get: { type: 'text', value: 'NAME', description: 'download this file of the job' },
      output: {
        type: 'text',
        short: 'o',
        value: 'FILE',
        completes: 'file',
        description: 'with --get: where to write the file (default: its own name)',
      },
      commit: { type: 'flag', description: 'commit the draft after the files are attached' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul attach film-2 notes.txt --commit', description: 'attach a file and commit the draft' },
      { line: 'longhaul attach film-3 --get out.txt -o mine.txt', description: 'download an output file' },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/attach.ts')).attach,
  },
];
