/** Store migration, import from other job systems, and outboxes in other databases. */
import type { CommandSpec } from './command-spec.ts';
import { JSON_OUTPUT, TARGET } from './command-spec.ts';

export const MIGRATION_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'migrate',
    usage: ['--from ADDRESS --to ADDRESS [--wait TIME] [--leave] [--dry-run] [--json]', '--from ADDRESS --reopen'],
    summary: 'migrate a store to another engine, SQLite or Redis',
    description:
      'Copies jobs with their history, queues, settings, schedules, throttles, statistics and all records.\nThe old store is closed first: it accepts no more changes and refers to the new one. At the end both are compared row by row.\nRun an interrupted migration again to continue it, or abandon it with --reopen. To go back, migrate in the other direction.',
    options: {
      from: { type: 'text', value: 'ADDRESS', description: 'store to migrate: a directory or redis://host:port' },
      to: { type: 'text', value: 'ADDRESS', description: 'empty store to migrate to' },
      wait: { type: 'text', value: 'TIME', description: 'how long to wait for running jobs, such as 10m' },
      leave: {
        type: 'flag',
        description: 'let running jobs finish in the old store; run the command again to migrate them',
      },
      'from-home': {
        type: 'text',
        value: 'DIR',
        completes: 'directory',
        description: 'data directory to copy attachments and logs from',
      },
      'to-home': {
        type: 'text',
        value: 'DIR',
        completes: 'directory',
        description: 'data directory to copy attachments and logs to',
      },
      'dry-run': { type: 'flag', description: 'print what would be migrated and change nothing' },
      reopen: { type: 'flag', description: 'abandon an unfinished migration and reopen the old store' },
      ...JSON_OUTPUT,
    },
    examples: [
      { line: 'longhaul migrate --from longhaul --to moved --dry-run', description: 'print what would be migrated' },
    ],
    load: async () => (await import('../commands/node/migrate.ts')).migrate,
  },
  {
    name: 'import',
    usage: [
      '--from-blueque|--from-qless|--from-worqr ADDRESS [--running] [--dry-run] [--json]',
      '--from-blueque|--from-qless|--from-worqr ADDRESS --follow [--json]',
      '--from-rq DIR [--dry-run] [--json]',
    ],
    summary: 'import jobs of Blueque, qless, Worqr or RQ',
    description:
      'Only reads the source. Jobs keep their ids, data, priorities, tags, results and dependencies.\nExisting jobs stay unchanged, so an import can be repeated. Lists what cannot be imported, and jobs that still run there.\nWith --from-rq also queues with their schedules, attachments and logs. RQ and the node must be stopped.\nWith --follow, waiting jobs are moved out of the source as they come, each once, until the command is stopped.',
    options: {
      'from-blueque': { type: 'text', value: 'ADDRESS', description: 'redis://host:port/db of Blueque' },
      'from-qless': { type: 'text', value: 'ADDRESS', description: 'redis://host:port/db of qless' },
      'from-worqr': { type: 'text', value: 'ADDRESS', description: 'redis://host:port/db of Worqr' },
      'from-rq': { type: 'text', value: 'DIR', completes: 'directory', description: 'directory of RQ' },
      prefix: { type: 'text', value: 'PREFIX', description: 'key prefix of Worqr (default: worqr)' },
      running: {
        type: 'flag',
        description: 'import running jobs as waiting; stop the workers of the source first',
      },
      follow: { type: 'flag', description: 'keep moving waiting jobs while the old producers go on' },
      'dry-run': { type: 'flag', description: 'print what would be imported and change nothing' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul import --help', description: 'list the supported sources' }],
    load: async () => (await import('../commands/node/import.ts')).importAll,
  },
  {
    name: 'outbox',
    usage: [
      '--from postgres://…|FILE [--table NAME] [--name NAME] [--setup] [--json]',
      '--from postgres://…|FILE --status|--retry [--table NAME] [--json]',
    ],
    summary: 'relay the jobs of an outbox in PostgreSQL or SQLite',
    description:
      'Moves the rows of an outbox table into the store as they are committed, each as one job, until the command is stopped.\nAny number of relays may run. Rows that are invalid stay in the table with their error: --status lists them, and\n--retry relays them again once they are corrected. Exits 1 if --status finds failed rows.',
    options: {
      from: {
        type: 'text',
        value: 'ADDRESS',
        completes: 'file',
        description: 'database of the outbox: postgres://user@host/database, or a SQLite file',
      },
      table: { type: 'text', value: 'NAME', description: 'table of the outbox (default: longhaul_outbox)' },
      name: { type: 'text', value: 'NAME', description: 'name in metrics and doctor (default: from the address)' },
      setup: { type: 'flag', description: 'create the table if it does not exist' },
      status: { type: 'flag', description: 'count the rows and list those that failed' },
      retry: { type: 'flag', description: 'make failed rows wait again' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul outbox --help', description: 'list the options' }],
    load: async () => (await import('../commands/node/outbox.ts')).outbox,
  },
];
