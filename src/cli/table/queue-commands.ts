/** Commands for queues, settings, throttles and API tokens. */
import { ROLES } from '../../wire/role.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';
import { HOME, JSON_OUTPUT, TARGET, YES } from './command-spec.ts';

const NOTE: OptionSpec = { type: 'text', value: 'TEXT', description: 'reason, shown with the queue' };

export const QUEUE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'pause',
    usage: ['[QUEUE | ID] [--note TEXT]'],
    summary: 'pause a queue, all queues, or a running job',
    description:
      'A paused queue accepts jobs and starts none; its running jobs continue. A paused job is suspended and keeps its slot.',
    options: { note: NOTE, ...JSON_OUTPUT, ...TARGET },
    examples: [
      { line: `longhaul pause films --note 'the disk is being changed'`, description: 'pause a queue' },
      { line: 'longhaul pause film-8', description: 'pause a running job' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/queues/pause.ts')).pause,
  },
  {
    name: 'resume',
    usage: ['[QUEUE | ID]'],
    summary: 'resume a queue, all queues, or a paused job',
    options: { ...JSON_OUTPUT, ...TARGET },
    examples: [{ line: 'longhaul resume films', description: 'start jobs of the queue again' }],
    completes: 'queue',
    load: async () => (await import('../commands/queues/pause.ts')).resume,
  },
  {
    name: 'throttle',
    usage: ['', 'NAME MAX', 'NAME [MAX] --rate RATE [--by FIELD]… [--cost FIELD]', 'NAME --delete'],
    summary: 'list throttles and the jobs that hold their slots, or set a maximum or a rate',
    description:
      'A job names its throttles when it is added; a queue names the throttles of jobs that name none. Keys are listed too.',
    options: {
      rate: { type: 'text', value: 'RATE', description: 'start at most so many in a period, such as 60/1m' },
      by: { type: 'list', value: 'FIELD', description: 'data field that makes the key; each key has the whole rate' },
      cost: { type: 'text', value: 'FIELD', description: 'data field with the cost of a job (default: 1 each)' },
      delete: { type: 'flag', description: 'remove the throttle' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul throttle database 5', description: 'run at most five jobs of this throttle at once' },
      { line: 'longhaul throttle openai --rate 60/1m --by model', description: 'start 60 jobs a minute of each model' },
    ],
    load: async () => (await import('../commands/queues/throttle.ts')).throttle,
  },
  {
    name: 'drain',
    usage: ['[--timeout TIME] [--note TEXT]'],
    summary: 'pause the queues of this node and wait until its running jobs have ended',
    description:
      'Prints the expected end of each running job, estimated from its progress. Ctrl-C stops waiting; the queues stay paused.\nOn a store that several nodes share, the queues are paused on all of them.',
    options: {
      timeout: { type: 'text', value: 'TIME', description: 'longest time to wait, such as 30m; then exit 1' },
      note: NOTE,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul drain --timeout 1h', description: 'drain before a restart of the machine' }],
    load: async () => (await import('../commands/node/drain.ts')).drain,
  },
  {
    name: 'router',
    usage: ['check [FILE]', 'try [FILE] --dest ADDRESS [--src TEXT] [--tag TAG]…'],
    summary: 'check router rules, or show where they send a job',
    description: 'FILE is a file of rules (default: router.json of the data directory). Sends and changes nothing.',
    options: {
      dest: { type: 'text', value: 'ADDRESS', description: 'destination of the job' },
      src: { type: 'text', value: 'TEXT', description: 'source of the job' },
      tag: { type: 'list', value: 'TAG', description: 'tag of the job; may be repeated' },
      ...JSON_OUTPUT,
      ...HOME,
    },
    examples: [
      { line: 'longhaul router check rules.json', description: 'print the errors, or what each rule does' },
      { line: 'longhaul router try rules.json --dest mail --tag eu', description: 'show where such a job is sent' },
    ],
    load: async () => (await import('../commands/queues/router.ts')).router,
  },
  {
    name: 'hooks',
    usage: ['secret [NAME]'],
    summary: 'print the signing secrets of webhooks',
    description:
      'NAME is the name of a secret (default: default). Secrets are set under hooks.secrets in node.json; without a default secret there, the node uses one that it generated in the data directory.',
    options: { ...HOME },
    examples: [{ line: 'longhaul hooks secret', description: 'print the secrets, one whsec_… a line' }],
    load: async () => (await import('../commands/queues/webhooks.ts')).hooks,
  },
  {
    name: 'queue',
    usage: [
      '',
      'NAME',
      'NAME SETTING=VALUE…',
      'NAME --create [--script FILE] [SETTING=VALUE…]',
      'NAME --delete [--yes]',
    ],
    summary: 'list, show, configure, create or delete queues',
    description: 'VALUE is JSON or plain text. longhaul config QUEUE describes each setting.',
    options: {
      create: { type: 'flag', description: 'create the queue' },
      script: {
        type: 'text',
        value: 'FILE',
        completes: 'file',
        description: 'with --create: executable to copy into the data directory',
      },
      delete: { type: 'flag', description: 'delete the queue with all of its jobs; refused while a job runs' },
      ...YES,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul queue', description: 'list all queues with their counts' },
      { line: 'longhaul queue films', description: 'show one queue' },
      { line: 'longhaul queue films concurrency=4 maxRuntime=2h', description: 'change two settings' },
      { line: 'longhaul queue resize --create --script resize.sh', description: 'create a queue with a script' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/queues/queue.ts')).queue,
  },
  {
    name: 'prune',
    usage: ['[--yes]', '--dry-run [QUEUE]'],
    summary: 'delete data beyond retention now, or show what would be deleted',
    description:
      'A node prunes by itself, a few jobs at a time. Retention is a setting of each queue: see longhaul config QUEUE.',
    options: {
      'dry-run': { type: 'flag', description: 'delete nothing; print what would be deleted, and why' },
      ...YES,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul prune --dry-run', description: 'show what would be deleted' },
      { line: 'longhaul prune --yes', description: 'delete it now' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/node/prune.ts')).prune,
  },
  {
    name: 'config',
    usage: ['', 'QUEUE [SETTING=VALUE]...', '--global [SETTING=VALUE]...'],
    summary: 'show and change the settings of the node, a queue or all queues',
    description:
      'FROM shows where a value is set: on the queue, for all queues (global), or nowhere (default). A setting of the queue overrides the global one. The settings of the node are in its node.json.',
    options: {
      global: { type: 'flag', description: 'settings for all queues' },
      unset: { type: 'text', value: 'SETTING', description: 'remove a setting, so that its value is inherited again' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul config', description: 'show the settings of the node' },
      { line: 'longhaul config films', description: 'show the settings of a queue' },
      {
        line: 'longhaul config --global retries=3',
        description: 'set a value for all queues without one of their own',
      },
      { line: 'longhaul config films --unset retries', description: 'use the global value again' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/queues/config.ts')).config,
  },
  {
    name: 'token',
    usage: ['', 'create NAME --role ROLE [--expires TIME]', 'revoke ID'],
    summary: 'list, create and revoke tokens for the HTTP API',
    description:
      'A token is printed once, when it is created; only its hash is stored. LONGHAUL_TOKEN passes a token to the other commands.\nRoles: read (view everything), submit (read, and add jobs), operate (submit, and cancel, retry, pause and run jobs),\nadmin (everything, including scripts and tokens), relay (only deliver jobs from another node).',
    options: {
      role: { type: 'text', value: 'ROLE', completes: ROLES, description: `one of ${ROLES.join(', ')}` },
      expires: { type: 'text', value: 'TIME', description: 'lifetime of the token, such as 90d (default: no expiry)' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      {
        line: 'longhaul token create build-server --role submit --expires 90d',
        description: 'create a token and print it',
      },
      { line: 'longhaul token', description: 'list tokens' },
    ],
    completes: ['create', 'revoke'],
    load: async () => (await import('../commands/node/token.ts')).token,
  },
];
