/** Moving house: from one store to another, and from the stores of the systems before Longhaul. */
import type { CommandSpec } from './command-spec.ts';
import { JSON_OUTPUT, TARGET } from './command-spec.ts';

export const MOVING_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'migrate',
    usage: ['--from ADDRESS --to ADDRESS [--wait TIME] [--leave] [--dry-run] [--json]', '--from ADDRESS --reopen'],
    summary: 'move a store to another one, whole, between SQLite and Redis',
    about:
      'Jobs with their histories, queues, settings, schedules, throttles, statistics and all records. The old store is closed\nfirst, takes no changes any more and points to the new one. Both are compared row by row at the end. A move that was\nkilled goes on when it is run again; --reopen gives it up. To go back, move the other way.',
    options: {
      from: { type: 'text', value: 'ADDRESS', about: 'the store that moves: a folder, redis://host:port' },
      to: { type: 'text', value: 'ADDRESS', about: 'an empty store' },
      wait: { type: 'text', value: 'TIME', about: 'how long to wait for jobs that run, such as 10m' },
      leave: { type: 'flag', about: 'leave those that still run to finish where they are; run it again to bring them' },
      'from-home': { type: 'text', value: 'FOLDER', completes: 'folder', about: 'attachments and logs are here' },
      'to-home': { type: 'text', value: 'FOLDER', completes: 'folder', about: 'and are copied here' },
      'dry-run': { type: 'flag', about: 'say what would move, and change nothing' },
      reopen: { type: 'flag', about: 'give up a move that is not over: the old store is open again' },
      ...JSON_OUTPUT,
    },
    examples: [
      { line: 'longhaul migrate --from longhaul --to moved --dry-run', says: 'says what would move to ./moved' },
    ],
    load: async () => (await import('../commands/node/migrate.ts')).migrate,
  },
  {
    name: 'import',
    usage: ['--from-blueque|--from-qless|--from-worqr ADDRESS [--running] [--dry-run] [--json]'],
    summary: 'take over the jobs of Blueque, qless or Worqr from their Redis',
    about:
      'Reads only. Jobs keep their ids, data, priorities, tags, ends and dependencies; what is here already stays as it is, so it\ncan be repeated. What has no place here is listed, and so is what still runs there.',
    options: {
      'from-blueque': { type: 'text', value: 'ADDRESS', about: 'redis://host:port/db of Blueque' },
      'from-qless': { type: 'text', value: 'ADDRESS', about: 'redis://host:port/db of qless' },
      'from-worqr': { type: 'text', value: 'ADDRESS', about: 'redis://host:port/db of Worqr' },
      prefix: { type: 'text', value: 'PREFIX', about: 'what the keys of Worqr begin with; worqr by default' },
      running: { type: 'flag', about: 'take what runs there as waiting here: its workers must be gone' },
      'dry-run': { type: 'flag', about: 'say what would come, and change nothing' },
      ...JSON_OUTPUT,
      ...TARGET,
    },
    examples: [{ line: 'longhaul import --help', says: 'says from where' }],
    load: async () => (await import('../commands/node/import.ts')).importAll,
  },
];
