/**
 * The scripts: the ground, what is counted, for some the fast path, constants, `lua/prelude.lua`, then one file an operation.
 * There is no include and nothing else is put together, so what stands in the files is what runs.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CALLS_REFUSED_WHILE_CLOSED } from '../../../core/operations/perform.ts';
import { constantsText, fastPathConstants } from './constants.ts';

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

/** How an operation tries the fast path (lua/fastpath.lua) before the library of the general path is set up. */
const FAST_PATH: Partial<Record<ScriptName, string>> = {
  add: 'local answer = fastpath.add() if answer then return answer end\n',
  heartbeat: 'local answer = fastpath.heartbeat() if answer then return answer end\n',
  settle: 'local answer = fastpath.run(2, #args) if answer then return answer end\n',
  claim: 'local answer, claimed = fastpath.run(2, 1, 2) if answer then return claimed end\n',
  'settle-claim': [
    'local count = tonumber(args[2])',
    'local answer, claimed = fastpath.run(3, 2 + count, 3 + count)',
    'if answer then table.insert(claimed, 1, answer) return claimed end\n',
  ].join('\n'),
};

const BARRED: readonly ScriptName[] = CALLS_REFUSED_WHILE_CLOSED;

/** The whole text of a script, as the server gets it. A worker settles and claims in one breath, so that is one call. */
export function scriptText(name: ScriptName): string {
  const settleThenClaim = () =>
    `return inTurn(function()\n${fileText('settle')}end, function()\n${fileText('claim')}end)\n`;
  const operation = name === 'settle-claim' ? settleThenClaim() : fileText(name);
  const before = isLook(name) ? '' : `${fastPathConstants()}${beforeLibrary(name)}`;
  const guard = BARRED.includes(name) ? 'local no = barred() if no then return no end\n' : '';
  return `${fileText('ground')}${before}${constantsText()}${fileText('prelude')}${guard}${operation}`;
}

/** Statistics, and the fast path of the operations that have one; without statistics of its own it comes first. */
function beforeLibrary(name: ScriptName): string {
  const [statistics, attempt] = [fileText('tally'), FAST_PATH[name]];
  if (attempt === undefined) return statistics;
  const fastPath = `${fileText('batch')}${fileText('fastpath')}${attempt}`;
  return name === 'add' || name === 'heartbeat' ? fastPath + statistics : statistics + fastPath;
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
