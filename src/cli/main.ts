#!/usr/bin/env node
import { commandNamed, helpOf, helpOfAll } from './commands/shell/help.ts';
import { outputError, watchOutputs } from './output/closed-output.ts';
import { sayWhy } from './output/exit-code.ts';
import { print } from './output/screen.ts';
/**
 * `longhaul`: the command line. Finds the command in the table, reads its words by it, loads it and runs it, and turns
 * its end into an exit code. Nothing heavy is loaded before it is known what is wanted.
 */
import { Call } from './table/call.ts';

async function main([name, ...words]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h') {
    print(helpOfAll());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-V') {
    print((await import('./package-version.ts')).versionOfPackage());
    return 0;
  }
  const spec = commandNamed(name);
  if (asksForHelp(words)) {
    print(helpOf(spec));
    return 0;
  }
  const call = new Call(spec, words);
  return (await spec.load())(call);
}

/** Before `--`: what comes after it belongs to somebody else. */
function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  return own.includes('--help') || own.includes('-h');
}

watchOutputs();
try {
  const code = await main(process.argv.slice(2));
  const error = outputError();
  process.exitCode = error === null ? code : sayWhy(error);
} catch (error) {
  process.exitCode = sayWhy(error);
}
