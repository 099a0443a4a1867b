/** `longhaul config`: how the node or a queue is set, and what each setting means. Looks and changes nothing. */
import { readFileSync } from 'node:fs';
import { DEFAULT_SETTINGS } from '../core/settings.ts';
import type { NodeSettings } from '../node/node-settings.ts';
import { nodeSettings } from '../node/node-settings.ts';
import type { Call } from './call.ts';
import type { Column } from './columns.ts';
import { table } from './columns.ts';
import { homeOf } from './command.ts';
import { checkQueueIsKnown } from './known-names.ts';
import { withTarget } from './open-target.ts';
import { print, printJson, screenOf } from './screen.ts';
import { SETTINGS } from './setting-words.ts';

/** Where it may call is left out: it holds tokens. */
const NODE_WORDS: Readonly<Record<Exclude<keyof NodeSettings, 'outbound' | 'isUrlSet'>, string>> = {
  name: 'what this node is called among those that share its store; its host when nobody says',
  url: 'the address of this node, as others reach it',
  copyUpTo: 'so many bytes of a job, log and files together, a second node of the same store keeps a copy of; 0: none',
  aliases: 'other addresses of the same node',
  port: 'the port it listens on',
  env: 'production, development, test or stage: handed to scripts as RQ_ENV',
  scriptDirs: 'folders beside queues/ in which scripts may live',
  offers:
    'units for jobs that need some, beside the cores (cpu) and the memory (memoryMb) of the machine; from the next start',
  rq: 'open: whoever comes over the loopback to RQ’s addresses may name scripts, as RQ had it',
};

interface Row {
  readonly name: string;
  readonly value: string;
  readonly about: string;
  readonly isSet: boolean;
}

export async function config(call: Call): Promise<number> {
  const [queue, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  if (queue === undefined) return printRows(call, nodeRows(call));
  return withTarget(call, async (target) => {
    await checkQueueIsKnown(target, queue);
    const settings = await target.longhaul.queue(queue).settings();
    const rows = Object.entries(SETTINGS).map(([name, { about, of }]) => {
      const value = of(settings);
      return { name, value, about, isSet: value !== of(DEFAULT_SETTINGS) };
    });
    return printRows(call, rows);
  });
}

function nodeRows(call: Call): Row[] {
  const { settings: path, root } = homeOf(call.text('home'));
  const [set, usual] = [nodeSettings(readIfThere(path)), nodeSettings(undefined)];
  const words = (value: unknown): string => {
    if (value === null) return 'none';
    if (Array.isArray(value)) return value.join(', ') || 'none';
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  const rows = (Object.keys(NODE_WORDS) as (keyof typeof NODE_WORDS)[]).map((name) => {
    const value = words(set[name]);
    return { name, value, about: NODE_WORDS[name], isSet: value !== words(usual[name]) };
  });
  return [{ name: 'home', value: root, about: 'where everything of this node is', isSet: false }, ...rows];
}

function printRows(call: Call, rows: readonly Row[]): number {
  if (call.flag('json')) printJson(rows.map(({ name, value, about, isSet }) => ({ name, value, about, isSet })));
  else for (const line of table(COLUMNS, rows, screenOf())) print(line);
  return 0;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'SETTING', isWhole: true, of: ({ name }) => name },
  { title: 'VALUE', of: ({ value, isSet }) => ({ text: value, colour: isSet ? 'bold' : null }) },
  { title: 'MEANING', of: ({ about }) => about },
];

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
