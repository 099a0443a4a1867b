/** Commands for a node and its data directory. */
import type { CommandSpec } from './command-spec.ts';
import { HOME, JSON_OUTPUT, TARGET } from './command-spec.ts';

export const NODE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'serve',
    usage: ['[--home DIR] [--port N] [--listen ADDRESS]… [--store ADDRESS]'],
    summary: 'start a node: run the queues of a data directory and serve HTTP',
    description:
      'Each executable file in DIR/queues is a queue with the name of the file. The first start creates DIR.\nSIGTERM or Ctrl-C stops the node; running scripts continue, and the next serve adopts them. SIGHUP reloads the settings.\nEvery option can also be set in the environment (LONGHAUL_PORT, LONGHAUL_LISTEN, …) and in DIR/node.json.',
    options: {
      ...HOME,
      store: {
        type: 'text',
        value: 'ADDRESS',
        description:
          'store: redis://…, redis+sentinel://… or a directory (default: LONGHAUL_STORE, then the data directory)',
      },
      port: { type: 'text', value: 'N', description: 'TCP port; 0 chooses a free one (default: 3333)' },
      listen: {
        type: 'list',
        value: 'ADDRESS',
        description:
          'listen address (default: 127.0.0.1 and ::1); a non-loopback address requires a token; may be repeated',
      },
      strict: { type: 'flag', description: 'refuse a store whose settings weaken durability' },
      'require-token': {
        type: 'flag',
        description: 'require a token on loopback addresses too; the unix socket never needs one',
      },
      telemetry: {
        type: 'flag',
        description: 'record spans of OpenTelemetry; needs @opentelemetry/api and an SDK that the process registers',
      },
      'log-format': {
        type: 'text',
        value: 'FORMAT',
        completes: ['pretty', 'json'],
        description: 'pretty or json (default: pretty on a terminal, otherwise json)',
      },
    },
    examples: [{ line: 'longhaul serve --home ./longhaul', description: 'start a node on ./longhaul' }],
    load: async () => (await import('../daemon/serve.ts')).serve,
  },
  {
    name: 'nodes',
    usage: ['', 'drain NODE [--wait]', 'resume NODE', 'forget NODE'],
    summary: 'list, drain, resume or forget nodes',
    description:
      'NODE is a name, an id or a prefix of an id. A draining node starts no more jobs, even after a restart: its running jobs\nfinish, and other nodes run the waiting ones. Forget only a node that will not return: files that only it had are lost.',
    options: {
      wait: { type: 'flag', description: 'with drain: wait until the node runs no more jobs' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul nodes', description: 'list the nodes with their state and load' }],
    load: async () => (await import('../commands/node/nodes.ts')).nodes,
  },
  {
    name: 'doctor',
    usage: ['[--deep] [--scrub] [--json]'],
    summary: 'check a data directory, its store and the machine, and print how to fix problems',
    description: 'Changes nothing. Exits 0 if all checks pass, 1 with warnings, 2 with errors.',
    options: {
      deep: { type: 'flag', description: 'also read every job of a SQLite store and verify its checksums' },
      scrub: { type: 'flag', description: 'also read every attachment and verify its hash' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [
      { line: 'longhaul doctor', description: 'check ./longhaul' },
      {
        line: 'longhaul doctor --deep --scrub --json',
        description: 'verify every job and attachment, and print JSON',
      },
    ],
    load: async () => (await import('../commands/node/doctor.ts')).doctor,
  },
  {
    name: 'backup',
    usage: ['--to DIR [--logs]'],
    summary: 'back up a data directory, even while its node runs',
    description: 'Copies jobs, queues, settings and attachments as of one moment, with a manifest of hashes.',
    options: {
      to: { type: 'text', value: 'DIR', completes: 'directory', description: 'new directory for the backup' },
      logs: { type: 'flag', description: 'include the logs of attempts' },
      ...HOME,
    },
    examples: [{ line: 'longhaul backup --to backups/monday', description: 'back up ./longhaul' }],
    load: async () => (await import('../commands/node/backup.ts')).backup,
  },
  {
    name: 'restore',
    usage: ['--from DIR --home NEW'],
    summary: 'create a data directory from a backup',
    description:
      'Verifies the hash of every file. Jobs that ran when the backup was made wait again, at the front of their queues.\nOutcomes of their earlier attempts are refused.',
    options: {
      from: { type: 'text', value: 'DIR', completes: 'directory', description: 'backup made by longhaul backup' },
      ...HOME,
    },
    examples: [
      { line: 'longhaul restore --from backups/monday --home restored', description: 'restore to ./restored' },
    ],
    load: async () => (await import('../commands/node/restore.ts')).restore,
  },
];
