/** All commands, in the order of the help. Holds data only; the code of a command is in the file that it loads. */
import type { CommandSpec } from './command-spec.ts';
import { JOB_COMMANDS } from './job-commands.ts';
import { MIGRATION_COMMANDS } from './migration-commands.ts';
import { NODE_COMMANDS } from './node-commands.ts';
import { QUEUE_COMMANDS } from './queue-commands.ts';
import { READ_COMMANDS } from './read-commands.ts';
import { SCHEDULE_COMMANDS } from './schedule-commands.ts';
import { SHELL_COMMANDS } from './shell-commands.ts';

export const COMMANDS: readonly CommandSpec[] = [
  ...NODE_COMMANDS,
  ...JOB_COMMANDS,
  ...READ_COMMANDS,
  ...QUEUE_COMMANDS,
  ...SCHEDULE_COMMANDS,
  ...MIGRATION_COMMANDS,
  ...SHELL_COMMANDS,
];

export function findCommand(name: string): CommandSpec | undefined {
  return COMMANDS.find((command) => command.name === name);
}
