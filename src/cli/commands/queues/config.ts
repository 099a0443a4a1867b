/**
 * `longhaul config`: how the node, a queue or every queue is set, what each setting means and who set it. Changes the
 * settings of queues; those of the node stand in its node.json.
 */
import { readFileSync } from 'node:fs';
import { checked } from '../../../core/input/check.ts';
import { settingName } from '../../../core/settings/global-settings.ts';
import { EVERY_QUEUE } from '../../../core/settings/settings.ts';
import type { Longhaul } from '../../../library/index.ts';
import type { NodeSettings } from '../../../node/node-settings.ts';
import { nodeSettings } from '../../../node/node-settings.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { homeOf } from '../../table/command.ts';
import { checkQueueIsKnown } from '../../target/known-names.ts';
import { withTarget } from '../../target/open-target.ts';
import { SETTINGS } from './setting-lines.ts';
import { settingsGiven } from './settings-given.ts';

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
  /** Who set it. */
  readonly from: string;
}

export async function config(call: Call): Promise<number> {
  const isGlobal = call.flag('global');
  const [queue, ...words] = isGlobal ? [EVERY_QUEUE, ...call.positionals] : call.positionals;
  const settings = settingsGiven(call, words);
  const unset = call.text('unset');
  if (queue === undefined && unset !== undefined) throw call.wrong('--unset goes with QUEUE or --global');
  if (queue === undefined) return printRows(call, nodeRows(call));
  return withTarget(call, async (target) => {
    if (!isGlobal) await checkQueueIsKnown(target, queue);
    const { longhaul } = target;
    const of = isGlobal ? longhaul : longhaul.queue(queue);
    if (words.length > 0) await of.configure(settings);
    if (unset !== undefined) await of.unset(checked('--unset', unset, settingName));
    return printRows(call, await queueRows(of));
  });
}

async function queueRows(of: Pick<Longhaul, 'settings' | 'explain'>): Promise<Row[]> {
  const [settings, explained] = await Promise.all([of.settings(), of.explain()]);
  return explained.map(({ name, about, from }) => ({
    name,
    value: SETTINGS[name]?.of(settings) ?? '',
    about,
    isSet: from !== 'default',
    from,
  }));
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
    const isSet = value !== words(usual[name]);
    return { name, value, about: NODE_WORDS[name], isSet, from: isSet ? 'node.json' : 'default' };
  });
  return [{ name: 'home', value: root, about: 'where everything of this node is', isSet: false, from: '' }, ...rows];
}

function printRows(call: Call, rows: readonly Row[]): number {
  if (call.flag('json')) printJson(rows);
  else for (const line of table(COLUMNS, rows, screenOf())) print(line);
  return 0;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'SETTING', isWhole: true, of: ({ name }) => name },
  { title: 'VALUE', of: ({ value, isSet }) => ({ text: value, colour: isSet ? 'bold' : null }) },
  { title: 'FROM', isWhole: true, of: ({ from }) => from },
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
