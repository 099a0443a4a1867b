/** Queues, their settings, and who may do what. */
import { ROLES } from '../../wire/role.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';
import { HOME, JSON_OUTPUT, TARGET, YES } from './command-spec.ts';

const NOTE: OptionSpec = { type: 'text', value: 'TEXT', about: 'why, shown to whoever looks' };

export const QUEUE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'pause',
    usage: ['[QUEUE | ID] [--note TEXT]'],
    summary: 'start no more jobs of a queue, of all queues, or halt a running job',
    about:
      'A paused queue takes jobs in and starts none; what runs goes on. A paused job stands still and keeps its place.',
    options: { note: NOTE, ...JSON_OUTPUT, ...TARGET },
    examples: [
      { line: `longhaul pause films --note 'the disk is being changed'`, says: 'a queue' },
      { line: 'longhaul pause film-8', says: 'a running job' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/queues/pause.ts')).pause,
  },
  {
    name: 'resume',
    usage: ['[QUEUE | ID]'],
    summary: 'let a queue, all queues, or a paused job go on',
    options: { ...JSON_OUTPUT, ...TARGET },
    examples: [{ line: 'longhaul resume films', says: 'the queue starts jobs again' }],
    completes: 'queue',
    load: async () => (await import('../commands/queues/pause.ts')).resume,
  },
  {
    name: 'throttle',
    usage: ['', 'NAME MAX', 'NAME --delete'],
    summary: 'list throttles and who holds their slots, or set how many jobs one lets run',
    about:
      'A job names its throttles when it is added; a queue names those of jobs that name none. Keys are listed too.',
    options: { delete: { type: 'flag', about: 'take its maximum away' }, ...JSON_OUTPUT, ...TARGET },
    examples: [{ line: 'longhaul throttle database 5', says: 'at most five jobs that name it run at once' }],
    load: async () => (await import('../commands/queues/throttle.ts')).throttle,
  },
  {
    name: 'drain',
    usage: ['[--timeout TIME] [--note TEXT]'],
    summary: 'pause the queues of this node and wait until nothing of it runs',
    about:
      'Shows when each running job is expected to end, from its progress. Ctrl-C stops waiting and leaves the queues paused.\nOn a store that several machines share, a queue is paused for all of them.',
    options: {
      timeout: { type: 'text', value: 'TIME', about: 'wait no longer than this, such as 30m; then exit 1' },
      note: NOTE,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul drain --timeout 1h', says: 'before the machine is restarted' }],
    load: async () => (await import('../commands/node/drain.ts')).drain,
  },
  {
    name: 'router',
    usage: ['check [FILE]', 'try [FILE] --dest ADDRESS [--src TEXT] [--tag TAG]…'],
    summary: 'check the rules of the router, or say where a job would go by them',
    about: 'FILE is router.json of the home folder unless it is named. Nothing is sent and nothing changed.',
    options: {
      dest: { type: 'text', value: 'ADDRESS', about: 'the destination of the job that is tried' },
      src: { type: 'text', value: 'TEXT', about: 'its source' },
      tag: { type: 'list', value: 'TAG', about: 'a tag of it; may be repeated' },
      ...JSON_OUTPUT,
      ...HOME,
    },
    examples: [
      { line: 'longhaul router check rules.json', says: 'tells what is wrong, or what each rule does' },
      { line: 'longhaul router try rules.json --dest mail --tag eu', says: 'where such a job would go' },
    ],
    load: async () => (await import('../commands/queues/router.ts')).router,
  },
  {
    name: 'hooks',
    usage: ['secret [NAME]'],
    summary: 'print the secrets that hooks are signed with, for whoever receives them',
    about:
      'NAME is default unless it is named. Secrets stand under hooks.secrets in node.json; where no default is named there, the home has one of its own.',
    options: { ...HOME },
    examples: [{ line: 'longhaul hooks secret', says: 'prints whsec_ and the secret, one a line' }],
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
    summary: 'list queues, show one, set, make or delete it',
    about: 'VALUE is JSON, or a text as it is. longhaul config QUEUE says what each setting means.',
    options: {
      create: { type: 'flag', about: 'make the queue' },
      script: {
        type: 'text',
        value: 'FILE',
        completes: 'file',
        about: 'with --create: an executable, copied into the home',
      },
      delete: { type: 'flag', about: 'delete the queue with all of its jobs; refused while one runs' },
      ...YES,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul queue', says: 'all queues, with their counts' },
      { line: 'longhaul queue films', says: 'one queue' },
      { line: 'longhaul queue films concurrency=4 maxRuntime=2h', says: 'changes two settings' },
      { line: 'longhaul queue resize --create --script resize.sh', says: 'makes a queue of a script' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/queues/queue.ts')).queue,
  },
  {
    name: 'prune',
    usage: ['[--yes]', '--dry-run [QUEUE]'],
    summary: 'delete what retention no longer keeps, or tell what that would be',
    about:
      'A node does so by itself, a few jobs at a time. What is kept is a setting of each queue: longhaul config QUEUE.',
    options: {
      'dry-run': { type: 'flag', about: 'delete nothing; tell what would go, and why' },
      ...YES,
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul prune --dry-run', says: 'what would go' },
      { line: 'longhaul prune --yes', says: 'all of it, now' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/node/prune.ts')).prune,
  },
  {
    name: 'config',
    usage: ['', 'QUEUE [SETTING=VALUE]...', '--global [SETTING=VALUE]...'],
    summary: 'show and change the settings of the node, of a queue or of every queue, and what they mean',
    about:
      'FROM says who set it: the queue itself, somebody for every queue (global), or nobody (default). A queue goes by the global settings wherever it has set nothing. Those of the node stand in its node.json.',
    options: {
      global: { type: 'flag', about: 'those of every queue' },
      unset: { type: 'text', value: 'SETTING', about: 'take back what was set: it is inherited again' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul config', says: 'of the node' },
      { line: 'longhaul config films', says: 'of a queue' },
      { line: 'longhaul config --global retries=3', says: 'for every queue that has not set it itself' },
      { line: 'longhaul config films --unset retries', says: 'as every queue again' },
    ],
    completes: 'queue',
    load: async () => (await import('../commands/queues/config.ts')).config,
  },
  {
    name: 'token',
    usage: ['', 'create NAME --role ROLE [--expires TIME]', 'revoke ID'],
    summary: 'make, list and revoke tokens for the HTTP API',
    about: 'A token is printed once, when it is made; only its hash is kept. LONGHAUL_TOKEN gives it to this command.',
    options: {
      role: { type: 'text', value: 'ROLE', completes: ROLES, about: `one of ${ROLES.join(', ')}` },
      expires: { type: 'text', value: 'TIME', about: 'not valid after so long, such as 90d; for ever by default' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul token create build-server --role submit --expires 90d', says: 'makes one and prints it' },
      { line: 'longhaul token', says: 'lists them' },
    ],
    completes: ['create', 'revoke'],
    load: async () => (await import('../commands/node/token.ts')).token,
  },
];
