/**
 * `longhaul config`: shows the settings of the node, a queue or all queues, with their meaning and source. Changes the
 * settings of queues; the settings of the node are in its node.json.
 */

import { checked } from '../../../core/input/check.ts';
import { settingName } from '../../../core/settings/global-settings.ts';
import { GLOBAL_SETTINGS_KEY } from '../../../core/settings/settings.ts';
import type { Longhaul } from '../../../library/index.ts';
import type { NodeSettings } from '../../../node/node-settings.ts';
import { nodeSettings } from '../../../node/node-settings.ts';
import { readIfExists } from '../../daemon/serve-settings.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { cell, print, printJson, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { homeOf } from '../../table/command.ts';
import { requireQueue } from '../../target/known-names.ts';
import { withTarget } from '../../target/open-target.ts';
import { SETTINGS } from './setting-values.ts';
import { parseSettings } from './settings-args.ts';

/** Descriptions of the node's settings. The outbound settings are left out, because they hold tokens. */
const NODE_DESCRIPTIONS: Readonly<Record<Exclude<keyof NodeSettings, 'outbound' | 'isUrlSet'>, string>> = {
  name: 'name of this node among the nodes that share its store; by default its host name',
  url: 'address at which other machines reach this node',
  copyUpTo: 'maximum bytes of a job, log and files together, of which a second node keeps a copy; 0: no copies',
  aliases: 'other addresses of this node',
  port: 'TCP port',
  env: 'production, development, test or stage; passed to scripts as RQ_ENV',
  scriptDirs: 'directories for scripts, in addition to queues/ and code/',
  offers: 'capacity for jobs, in addition to the cores (cpu) and the memory (memoryMb) of the machine; read at start',
  rq: 'open: RQ clients on the loopback address may name scripts, as in RQ',
};

interface Row {
  readonly name: string;
  readonly value: string;
  readonly about: string;
  readonly isSet: boolean;
  /** Where the value is set. */
  readonly from: string;
}

export async function config(args: Args): Promise<number> {
  const isGlobal = args.flag('global');
  const [queue, ...assignments] = isGlobal ? [GLOBAL_SETTINGS_KEY, ...args.positionals] : args.positionals;
  const settings = parseSettings(args, assignments);
  const unset = args.text('unset');
  if (queue === undefined && unset !== undefined) throw args.usageError('--unset requires QUEUE or --global');
  if (queue === undefined) return printRows(args, nodeRows(args));
  return withTarget(args, async (target) => {
    if (!isGlobal) await requireQueue(target, queue);
    const { longhaul } = target;
    const of = isGlobal ? longhaul : longhaul.queue(queue);
    if (assignments.length === 0 && unset === undefined) return printRows(args, await queueRows(of));
    const before = await queueRows(of);
    if (assignments.length > 0) await of.configure(settings);
    if (unset !== undefined) await of.unset(checked('--unset', unset, settingName));
    const after = await queueRows(of);
    return args.flag('json') ? printRows(args, after) : printChanges(before, after);
  });
}

/** Prints each setting whose value or source differs. Another caller may have changed some of them meanwhile. */
function printChanges(before: readonly Row[], after: readonly Row[]): number {
  const old = new Map(before.map((row) => [row.name, row]));
  const changed = after.filter(
    ({ name, value, from }) => value !== old.get(name)?.value || from !== old.get(name)?.from,
  );
  for (const { name, value, from } of changed) print(cell(`${name}: ${old.get(name)?.value} → ${value} (${from})`));
  if (changed.length === 0) print('no changes');
  return 0;
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

function nodeRows(args: Args): Row[] {
  const { settings: path, root } = homeOf(args.text('home'));
  const [set, defaults] = [nodeSettings(readIfExists(path)), nodeSettings(undefined)];
  const text = (value: unknown): string => {
    if (value === null) return 'none';
    if (Array.isArray(value)) return value.join(', ') || 'none';
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  const rows = (Object.keys(NODE_DESCRIPTIONS) as (keyof typeof NODE_DESCRIPTIONS)[]).map((name) => {
    const value = text(set[name]);
    const isSet = value !== text(defaults[name]);
    return { name, value, about: NODE_DESCRIPTIONS[name], isSet, from: isSet ? 'node.json' : 'default' };
  });
  return [{ name: 'home', value: root, about: 'data directory', isSet: false, from: '' }, ...rows];
}

function printRows(args: Args, rows: readonly Row[]): number {
  if (args.flag('json')) printJson(rows);
  else for (const line of table(COLUMNS, rows, screenOf())) print(line);
  return 0;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'SETTING', isWhole: true, of: ({ name }) => name },
  { title: 'VALUE', of: ({ value, isSet }) => ({ text: value, colour: isSet ? 'bold' : null }) },
  { title: 'FROM', isWhole: true, of: ({ from }) => from },
  { title: 'MEANING', of: ({ about }) => about },
];
