/** Moving house: from one store to another, and from the stores of the systems before Longhaul. */
import type { CommandSpec } from '../command-spec.ts';
import { JSON_OUTPUT } from '../command-spec.ts';

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
    load: async () => (await import('../migrate.ts')).migrate,
  },
];
