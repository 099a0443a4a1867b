/** Making jobs and deciding about them. */
import { ENDED_STATES, JOB_STATES } from '../../core/job/job.ts';
import type { CommandSpec, OptionSpecs } from './command-spec.ts';
import { JSON_OUTPUT, TARGET, YES } from './command-spec.ts';

const OPEN_STATES = JOB_STATES.filter((state) => !(ENDED_STATES as readonly string[]).includes(state));

/** What every new job may be given. */
const NEW_JOB: OptionSpecs = {
  id: { type: 'text', value: 'ID', about: 'an id of your own; adding it again changes nothing' },
  name: { type: 'text', value: 'TEXT', about: 'a name, shown to people' },
  tag: { type: 'list', value: 'TAG', about: 'a tag to find it by; may be repeated' },
  priority: { type: 'text', value: 'N', about: 'lower runs first' },
  retries: { type: 'text', value: 'N', about: 'how often it is tried again after a failure' },
  needs: { type: 'list', value: 'UNIT=N', about: 'what it needs of its worker, such as gpu=1; may be repeated' },
};

const ADD: OptionSpecs = {
  ...NEW_JOB,
  delay: { type: 'text', value: 'TIME', about: 'not before so long, such as 10m' },
  after: { type: 'list', value: 'ID', completes: 'job', about: 'a job that must be done before; may be repeated' },
  unique: { type: 'text', value: 'KEY', about: 'while another job holds this key, that one is answered' },
  hook: {
    type: 'list',
    value: '[EVENT,…=]URL',
    about: 'an address that is told of its end, or of what is named before it; may be repeated',
  },
  attach: { type: 'list', value: 'FILE', completes: 'file', about: 'a file for it; may be repeated' },
  draft: { type: 'flag', about: 'keep it back until longhaul attach ID --commit' },
  'force-remote': { type: 'flag', about: 'over the network even to an address of the node itself' },
  ...JSON_OUTPUT,
  ...TARGET,
};

const QUEUE = { type: 'text', value: 'QUEUE', completes: 'queue' } as const;

export const JOB_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'run',
    usage: ['[--queue QUEUE] [--detach] -- COMMAND [ARGUMENT]…'],
    summary: 'run a command as a job: follow its output, exit with its status',
    about:
      'The command runs under the node, in your present folder, and goes on whatever becomes of this terminal.\nCtrl-C leaves it running and says how to come back; a second Ctrl-C cancels it.\nOf your environment it gets PATH, HOME, the language and the time zone, and what --env names.',
    options: {
      queue: { ...QUEUE, about: 'a queue of commands; run by default, made when it is not there' },
      detach: { type: 'flag', short: 'd', about: 'print its id and leave it running' },
      env: { type: 'list', value: 'NAME[=VALUE]', about: 'a variable for it; may be repeated' },
      ...NEW_JOB,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul run -- echo hello', says: 'prints hello' },
      { line: 'longhaul run --detach --env DEPTH=3 -- make all', says: 'prints its id, and make goes on' },
    ],
    load: async () => (await import('../commands/jobs/run.ts')).run,
  },
  {
    name: 'add',
    usage: ['QUEUE [DATA] [--attach FILE]…'],
    summary: 'add a job to a queue',
    about:
      'DATA is JSON; without it the data are null. Prints the id of the job.\nQUEUE may be the address of a queue of another node: see longhaul relay.',
    options: {
      ...ADD,
      create: { type: 'flag', about: 'also into a queue that nobody has made yet' },
    },
    examples: [
      { line: `longhaul add films '{"param1":"hello"}' --json`, says: 'adds a job and prints it' },
      { line: 'longhaul add films --id film-1 --attach notes.txt', says: 'adds a job with a file' },
      { line: 'longhaul add films --after film-2', says: 'adds a job that waits for another' },
      { line: 'longhaul add films --needs cpu=2 --needs gpu=1', says: 'adds a job for a worker that has these free' },
      {
        line: 'longhaul add films --hook failed,slow=https://example.com/alarm',
        says: 'tells that address when it goes wrong',
      },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/jobs/add.ts')).add,
  },
  {
    name: 'relay',
    usage: ['ADDRESS [DATA] [--attach FILE]…', ''],
    summary: 'hand a job to a queue of another node, or list what waits to be handed on',
    about:
      'ADDRESS is http://host:3333/q/queue. The node sends the job with its files, and tries again until it is there.\nWithout ADDRESS: what is on its way, where to, and why it is not there yet.',
    options: ADD,
    examples: [
      {
        line: `longhaul relay http://backup.example:3333/q/archive '{"day":1}' --attach notes.txt`,
        says: 'sends a job',
      },
      { line: 'longhaul relay', says: 'lists what waits, and why' },
    ],
    load: async () => (await import('../commands/queues/relay.ts')).relay,
  },
  {
    name: 'cancel',
    usage: ['ID… [--dependents cancel|leave]', '--queue QUEUE [--state STATE] [--dependents cancel|leave] [--yes]'],
    summary: 'end jobs for good, also while they run',
    about:
      'A running job is asked to stop; it ends when nothing of it is left.\nWhat is to become of jobs that wait for it is asked, or said by --dependents.',
    options: {
      queue: { ...QUEUE, about: 'all jobs of this queue' },
      state: {
        type: 'text',
        value: 'STATE',
        completes: OPEN_STATES,
        about: 'only those in this state; waiting by default',
      },
      dependents: {
        type: 'text',
        value: 'cancel|leave',
        completes: ['cancel', 'leave'],
        about: 'jobs that wait for it are cancelled too, or left to their own rule',
      },
      ...YES,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul cancel film-5', says: 'ends one job' },
      { line: 'longhaul cancel --queue films --state waiting --yes', says: 'ends all that wait' },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/cancel.ts')).cancel,
  },
  {
    name: 'retry',
    usage: ['ID…', '--failed [--queue QUEUE] [--group GROUP]'],
    summary: 'run ended jobs again',
    options: {
      failed: { type: 'flag', about: 'all jobs that failed' },
      queue: { ...QUEUE, about: 'only those of this queue' },
      group: { type: 'text', value: 'GROUP', about: 'only those of this failure group' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul retry film-9', says: 'runs one again' },
      { line: `longhaul retry --failed --queue films --group 'exit 3'`, says: 'runs a whole group again' },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/retry.ts')).retry,
  },
  {
    name: 'attach',
    usage: ['ID FILE…', 'ID --get NAME [-o FILE]', 'ID'],
    summary: 'give files to a job, get its files, or list them',
    about: 'Files can be given to a draft (longhaul add --draft) until it is committed.',
    options: {
      get: { type: 'text', value: 'NAME', about: 'get this file of the job' },
      output: {
        type: 'text',
        short: 'o',
        value: 'FILE',
        completes: 'file',
        about: 'where to; its own name by default',
      },
      commit: { type: 'flag', about: 'a draft is complete with these files: let it run' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul attach film-2 notes.txt --commit', says: 'gives it a file and lets it run' },
      { line: 'longhaul attach film-3 --get out.txt -o mine.txt', says: 'gets what it made' },
    ],
    completes: 'job',
    load: async () => (await import('../commands/jobs/attach.ts')).attach,
  },
];
