/** All commands, in the order in which help shows them. Data alone: what a command does is in the file it loads. */
import type { CommandSpec } from './command-spec.ts';
import { JOB_COMMANDS } from './job-commands.ts';
import { MOVING_COMMANDS } from './migration-commands.ts';
import { NODE_COMMANDS } from './node-commands.ts';
import { QUEUE_COMMANDS } from './queue-commands.ts';
import { LOOKING_COMMANDS } from './read-commands.ts';
import { SCHEDULE_COMMANDS } from './schedule-commands.ts';
import { SHELL_COMMANDS } from './shell-commands.ts';

export const COMMANDS: readonly CommandSpec[] = [
  ...NODE_COMMANDS,
  ...JOB_COMMANDS,
  ...LOOKING_COMMANDS,
  ...QUEUE_COMMANDS,
  ...SCHEDULE_COMMANDS,
  ...MOVING_COMMANDS,
  ...SHELL_COMMANDS,
];

export function findCommand(name: string): CommandSpec | undefined {
  return COMMANDS.find((command) => command.name === name);
}
