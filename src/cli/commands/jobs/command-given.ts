/** The command line of `longhaul run`: the words after `--`, the present folder, and the variables chosen for it. */
import type { CommandLine } from '../../../node/scripts/command-job.ts';
import { screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { UsageError } from '../../table/command.ts';

/** What a command can hardly do without, and what holds no secret. */
const USUAL = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function commandGiven(call: Call): CommandLine {
  const at = call.words.indexOf('--');
  const argv = at < 0 ? [] : call.words.slice(at + 1);
  if (argv.length === 0 || call.positionals.length > argv.length)
    throw call.wrong(at < 0 && call.positionals.length > 0 ? 'put -- before the command' : 'the command is missing');
  const env = { ...usualVariables(), ...colours(), ...chosen(call.list('env')) };
  return { argv, cwd: process.cwd(), env, umask: process.umask() };
}

function usualVariables(): Record<string, string> {
  return Object.fromEntries(
    USUAL.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])),
  );
}

/** Its output goes to a file first, where programs leave their colours out unless they are told otherwise. */
function colours(): Record<string, string> {
  return screenOf().hasColours ? { FORCE_COLOR: '1', CLICOLOR_FORCE: '1' } : {};
}

function chosen(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(given.map(variable));
}

function variable(given: string): [string, string] {
  const at = given.indexOf('=');
  const name = at < 0 ? given : given.slice(0, at);
  if (!NAME.test(name)) throw new UsageError(`--env ${given}: ${JSON.stringify(name)} is no name for a variable`);
  if (/^(LONGHAUL|RQ)_/.test(name))
    throw new UsageError(`--env ${name}: names that begin with LONGHAUL_ or RQ_ are the node's`);
  const value = at < 0 ? process.env[name] : given.slice(at + 1);
  if (value === undefined)
    throw new UsageError(`--env ${name}: there is no such variable here; --env ${name}=VALUE gives it a value`);
  return [name, value];
}
