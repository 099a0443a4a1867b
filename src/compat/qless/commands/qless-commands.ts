/** The commands of qless's final API, by name. */
import type { Command } from '../arguments.ts';
import { configCommands } from '../config.ts';
import { attemptCommands } from './attempt-commands.ts';
import { jobCommands } from './job-commands.ts';
import { putCommands } from './put-command.ts';
import { queueCommands } from './queue-commands.ts';
import { readCommands } from './read-commands.ts';
import { recurCommands } from './recur-commands.ts';
import { statsCommands } from './stats-command.ts';
import { workerCommands } from './worker-commands.ts';

export type Commands = Readonly<Record<string, Command>>;

export const QLESS_COMMANDS: Commands = {
  ...readCommands,
  ...configCommands,
  ...queueCommands,
  ...putCommands,
  ...attemptCommands,
  ...jobCommands,
  ...statsCommands,
  ...recurCommands,
  ...workerCommands,
};
