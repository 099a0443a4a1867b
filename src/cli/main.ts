#!/usr/bin/env node
import { commandHelp, overviewHelp, requireCommand } from './commands/shell/help.ts';
import { outputError, watchOutputs } from './output/closed-output.ts';
import { reportError } from './output/exit-code.ts';
import { print } from './output/screen.ts';
/**
 * `longhaul`: the command line. Finds the command in the table, parses its arguments, loads and runs it, and maps the
 * result to an exit code. Heavy modules are loaded only after the command is known.
 */
import { Args } from './table/args.ts';

async function main([name, ...argv]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h') {
    print(overviewHelp());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-V') {
    print((await import('../library/package-version.ts')).packageVersion());
    return 0;
  }
  const spec = requireCommand(name);
  if (wantsHelp(argv)) {
    print(commandHelp(spec));
    return 0;
  }
  const args = new Args(spec, argv);
  return (await spec.load())(args);
}

/** Looks only before `--`: the arguments after it belong to the command that the job runs. */
function wantsHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const own = end < 0 ? argv : argv.slice(0, end);
  return own.includes('--help') || own.includes('-h');
}

watchOutputs();
try {
  const code = await main(process.argv.slice(2));
  const error = outputError();
  process.exitCode = error === null ? code : reportError(error);
} catch (error) {
  process.exitCode = reportError(error);
}
