/**
 * How the scripts and the benchmarks read their words: what opens a program's file is its help, `--help` prints it and
 * ends with 0, and a word that is not known is said with it and ends with 2. Never a stack trace for a wrong word.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { helpOf, isHelpAsked, Trouble } from './script-support.mjs';

/** A wrong word, with what would be right. */
export const wrongUse = (moduleUrl, what) =>
  new Trouble(`${what}\n\n${helpOf(fileURLToPath(moduleUrl))}`, { exitCode: 2 });

/**
 * The options of a script. `choices` names the words that an option may have; an option that `numbers` names is a number above 0.
 */
export function readOptions(moduleUrl, { args = process.argv.slice(2), choices = {}, numbers = [], ...config }) {
  const parsed = parsedWords(moduleUrl, { args, ...config });
  const { values } = parsed;
  for (const [name, words] of Object.entries(choices)) {
    const wrong = [values[name] ?? []].flat().find((word) => !words.includes(word));
    if (wrong !== undefined) throw wrongUse(moduleUrl, `--${name} is one of ${words.join(', ')}, not ${wrong}.`);
  }
  for (const name of numbers.filter((each) => values[each] !== undefined)) {
    const given = String(values[name]);
    if (!(Number(given) > 0)) throw wrongUse(moduleUrl, `--${name} is a number above 0, not ${given}.`);
  }
  return parsed;
}

function parsedWords(moduleUrl, config) {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS')) throw error;
    // Its first sentence; the rest is about words that begin with a dash.
    throw wrongUse(moduleUrl, `${error.message.split('. ')[0].replace(/\.$/, '')}.`);
  }
}

/** The same for a program that is one file without a function around it: says it and ends here. */
export function optionsOrEnd(moduleUrl, config) {
  if (isHelpAsked(process.argv.slice(2))) {
    process.stdout.write(`${helpOf(fileURLToPath(moduleUrl))}\n`);
    process.exit(0);
  }
  try {
    return readOptions(moduleUrl, config);
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode);
  }
}
