/** Store migration, and import from other job systems. */
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
];
