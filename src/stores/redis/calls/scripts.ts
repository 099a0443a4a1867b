/**
 * The scripts: the ground, what is counted, for some the everyday case, constants, `lua/prelude.lua`, then one file an operation.
 * There is no include and nothing else is put together, so what stands in the files is what runs.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CALLS_REFUSED_WHILE_CLOSED } from '../../../core/operations/perform.ts';
import { constantsText, everydayText } from './constants.ts';

export const CHANGING_SCRIPTS = [
  'add',
  'commit',
  'claim',
  'heartbeat',
  'settle',
  'cancel',
  'requeue',
  'move',
  'change',
  'delete',
  'keep-worker',
  'end-worker',
  'maintain',
  'records-put',
  'records-delete',
  'moving-stand',
  'moving-write',
  'moving-clear',
  'settle-claim',
] as const;

export const LOOKING_SCRIPTS = [
  'find',
  'history',
  'list',
  'peek',
  'count',
  'failures',
  'series',
  'statistics',
  'prunable',
  'storage',
  'ended',
  'tags',
  'throttles',
  'brakes',
  'workers',
  'records-get',
  'records-list',
  'moving-read',
] as const;

/** The name of a Lua script. */
export type ScriptName = (typeof CHANGING_SCRIPTS)[number] | (typeof LOOKING_SCRIPTS)[number];

export interface Script {
  readonly name: ScriptName;
  readonly text: string;
  readonly sha: string;
  /** Whether it leaves no trace, so that a lost reply is no loss. */
  readonly isLook: boolean;
}

/** How settle and claim try their everyday case first (lua/swift.lua), before the prelude is laid out. */
const SWIFT: Partial<Record<ScriptName, string>> = {
  settle: 'local said = swift.run(2, #args) if said then return said end\n',
  claim: 'local said, claimed = swift.run(2, 1, 2) if said then return claimed end\n',
  'settle-claim': [
    'local count = tonumber(args[2])',
    'local said, claimed = swift.run(3, 2 + count, 3 + count)',
    'if said then table.insert(claimed, 1, said) return claimed end\n',
  ].join('\n'),
};

/** The same for `add` (lua/birth.lua). */
const BIRTH = 'local said = birth() if said then return said end\n';

const BARRED: readonly ScriptName[] = CALLS_REFUSED_WHILE_CLOSED;

/** The whole text of a script, as the server gets it. A worker settles and claims in one breath, so that is one call. */
export function scriptText(name: ScriptName): string {
  const settleThenClaim = () =>
    `return inTurn(function()\n${fileText('settle')}end, function()\n${fileText('claim')}end)\n`;
  const operation = name === 'settle-claim' ? settleThenClaim() : fileText(name);
  const before = isLook(name) ? statisticsText(name) : `${everydayText()}${beforePrelude(name)}`;
  const guard = BARRED.includes(name) ? 'local no = barred() if no then return no end\n' : '';
  return `${fileText('ground')}${before}${constantsText()}${fileText('prelude')}${guard}${operation}`;
}

/** What is counted, and the everyday case of those that have one. That of `add` counts nothing, so it comes first. */
function beforePrelude(name: ScriptName): string {
  const texts = (...names: string[]) => names.map(fileText).join('');
  if (name === 'add') return `${texts('everyday', 'birth')}${BIRTH}${texts(...STATISTICS)}`;
  return SWIFT[name] === undefined
    ? texts(...STATISTICS)
    : `${texts(...STATISTICS, 'everyday', 'swift')}${SWIFT[name]}`;
}

/** The log of statistics and the cells that its entries are added to. */
const STATISTICS = ['lib/statistics', 'lib/statistics-log', 'lib/aggregates'];
const STATISTICS_READERS: readonly ScriptName[] = [
  'failures',
  'series',
  'statistics',
  'prunable',
  'storage',
  'moving-read',
];

function statisticsText(name: ScriptName): string {
  return STATISTICS_READERS.includes(name) ? `${everydayText()}${STATISTICS.map(fileText).join('')}` : '';
}

/** Stands on the ground alone: it is asked before anything is known of the server. */
export const reignText = (): string => `${fileText('ground')}${fileText('reign')}`;

let loaded: ReadonlyMap<ScriptName, Script> | null = null;

/** Put together once: the texts are the same for every store of the process. */
export function loadScripts(): ReadonlyMap<ScriptName, Script> {
  loaded ??= loadAll();
  return loaded;
}

function loadAll(): ReadonlyMap<ScriptName, Script> {
  const names: readonly ScriptName[] = [...CHANGING_SCRIPTS, ...LOOKING_SCRIPTS];
  return new Map(names.map((name) => [name, load(name)]));
}

function load(name: ScriptName): Script {
  const text = scriptText(name);
  return { name, text, sha: createHash('sha1').update(text).digest('hex'), isLook: isLook(name) };
}

function isLook(name: ScriptName): boolean {
  const looks: readonly string[] = LOOKING_SCRIPTS;
  return looks.includes(name);
}

const files = new Map<string, string>();

/** Read once: the prelude stands in every script. */
function fileText(name: string): string {
  const text = files.get(name) ?? readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8');
  files.set(name, text);
  return text;
}
