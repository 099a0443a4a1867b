/**
 * Parses the arguments of scripts and benchmarks. The header comment of a program is its help text: `--help` prints it and
 * exits with 0; a bad argument prints it and exits with 2, without a stack trace.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { helpText, UserError, wantsHelp } from './script-support.mjs';

/** Returns an error with the problem and the help text. */
export const usageError = (moduleUrl, problem) =>
  new UserError(`${problem}\n\n${helpText(fileURLToPath(moduleUrl))}`, { exitCode: 2 });

/** Parses options. `choices` lists the allowed values of an option; the options in `numbers` must be positive numbers. */
export function parseOptions(moduleUrl, { args = process.argv.slice(2), choices = {}, numbers = [], ...config }) {
  const parsed = parseStrictly(moduleUrl, { args, ...config });
  const { values } = parsed;
  for (const [name, allowed] of Object.entries(choices)) {
    const wrong = [values[name] ?? []].flat().find((value) => !allowed.includes(value));
    if (wrong !== undefined)
      throw usageError(moduleUrl, `--${name} must be one of ${allowed.join(', ')}, not ${wrong}.`);
  }
  for (const name of numbers.filter((each) => values[each] !== undefined)) {
    const given = String(values[name]);
    if (!(Number(given) > 0)) throw usageError(moduleUrl, `--${name} must be a positive number, not ${given}.`);
  }
  return parsed;
}

function parseStrictly(moduleUrl, config) {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS')) throw error;
    // Only the first sentence: the rest explains arguments that begin with a dash.
    throw usageError(moduleUrl, `${error.message.split('. ')[0].replace(/\.$/, '')}.`);
  }
}

/** Parses options for a program without main(): prints help or an error and exits. */
export function parseOptionsOrExit(moduleUrl, config) {
  if (wantsHelp(process.argv.slice(2))) {
    process.stdout.write(`${helpText(fileURLToPath(moduleUrl))}\n`);
    process.exit(0);
  }
  try {
    return parseOptions(moduleUrl, config);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode);
  }
}
