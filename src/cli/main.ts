#!/usr/bin/env node
/** `longhaul`: the command line. Each command is a file; this one only finds it and turns its end into an exit code. */
import { LonghaulError } from '../core/errors.ts';
import { addCommand } from './add.ts';
import { cancelCommand } from './cancel.ts';
import type { Command } from './command.ts';
import { UsageError } from './command.ts';
import { logsCommand } from './logs.ts';
import { reportCommand } from './report.ts';
import { serveCommand } from './serve.ts';

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: serveCommand,
  add: addCommand,
  logs: logsCommand,
  cancel: cancelCommand,
  report: reportCommand,
};

async function main(words: readonly string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') return help(rest[0]);
  const command = COMMANDS[name];
  if (command === undefined)
    throw new UsageError(`there is no command ${name}; there are ${Object.keys(COMMANDS).join(', ')}`);
  if (rest.includes('--help') || rest.includes('-h')) return help(name);
  return command.run(rest);
}

function help(name: string | undefined): number {
  const command = name === undefined ? undefined : COMMANDS[name];
  if (command !== undefined) {
    console.log(`longhaul ${command.usage}\n\n${command.about}\n\nExample:\n  ${command.example}`);
    return 0;
  }
  console.log('longhaul <command>\n');
  for (const { usage, about } of Object.values(COMMANDS)) console.log(`  ${usage.padEnd(44)} ${about.split('\n')[0]}`);
  console.log('\nlonghaul <command> --help shows more. LONGHAUL_HOME names the home folder, ./longhaul by default.');
  return 0;
}

/** 0 ok, 1 refused, 2 bad usage or settings. A user's mistake never shows a stack. */
function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) {
    console.error(`longhaul: ${error.message}`);
    return 2;
  }
  if (!(error instanceof LonghaulError)) throw error;
  console.error(`longhaul: ${error.message}`);
  return error.code === 'refused' ? 1 : 2;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
