/**
 * The scripts. Each is the base, for some the fast path, the constants and modules that it uses, and one file of
 * `lua/operations`, `lua/reads` or `lua/fast`.
 *
 * A settlement or claim has a fast script, which declines what it does not know; then the general one is sent. An add or
 * heartbeat has both paths in one script: calls of one client must take effect in their order.
 */
import { createHash } from 'node:crypto';
import { CALLS_REFUSED_WHILE_CLOSED } from '../../../core/operations/perform.ts';
import { constantsText, withFastPathConstants } from './constants.ts';
import { compact, luaPaths, luaText, Modules, modulesText, moduleText } from './lua-files.ts';

export const CHANGING_SCRIPTS = [
  'add',
  'commit',
  'claim',
  'heartbeat',
  'settle',
  'keep-steps',
  'notify',
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
  'migration-state',
  'migration-write',
  'migration-clear',
  'log-append',
  'log-restore',
  'settle-claim',
  'repair',
  'aggregate-statistics',
] as const;

/** The scripts of the fast path, each sent before the general script that its name ends with. */
export const FAST_SCRIPTS = ['fast-settle', 'fast-claim', 'fast-settle-claim'] as const;

export const READ_SCRIPTS = [
  'find',
  'history',
  'steps',
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
  'wait-reasons',
  'workers',
  'records-get',
  'records-list',
  'migration-read',
  'log-read',
] as const;

/** The name of a Lua script. */
export type ScriptName = (typeof CHANGING_SCRIPTS | typeof FAST_SCRIPTS | typeof READ_SCRIPTS)[number];

/** What a script answers that has written nothing, because another one must be sent first or instead. */
export const DECLINED = '!declined';
export const NEEDS_REPAIR = '!repair';
/** Stands before an answer after which the log of statistics must be aggregated. */
export const LOG_IS_LONG = '!log-is-long';

export interface Script {
  readonly name: ScriptName;
  readonly text: string;
  readonly sha: string;
  /** Whether it writes nothing, so that a call whose reply was lost can be repeated. */
  readonly isRead: boolean;
}

/** Returns the text of a call of plain-jobs.lua, before fastpath.lua is set up. */
function plainJobsCall(call: string): string {
  return `-- uses: plain-jobs\nlocal answer, isLong = ${call}\nif answer then return isLong and { '${LOG_IS_LONG}', answer } or answer end\n`;
}

/** How an operation tries the fast path (lua/lib/fastpath), before the modules of the general path are set up. */
const FAST_CALLS: Partial<Record<ScriptName, string>> = {
  add: '-- uses: fast-add\nlocal answer = fastAdd.add() if answer then return answer end\n',
  'fast-claim': plainJobsCall('plainJobs.run(0, 2)'),
  'fast-settle-claim': plainJobsCall('plainJobs.run(args[2] / 2, 3 + args[2])'),
  heartbeat: '-- uses: fast-heartbeat\nlocal answer = fastHeartbeat.heartbeat() if answer then return answer end\n',
  'records-get':
    '-- uses: fast-records\nlocal isAnswered, stored = fastRecords.get() if isAnswered then return stored end\n',
  'records-list':
    '-- uses: fast-records\nlocal isAnswered, all = fastRecords.list() if isAnswered then return all end\n',
};

const REFUSED_WHILE_CLOSED: readonly ScriptName[] = CALLS_REFUSED_WHILE_CLOSED;

/** Returns the text of a script: the base, its fast path, the modules that it uses, the operation. */
export function scriptText(name: ScriptName): string {
  const operation = isFast(name) ? fastOperationText(name) : operationText(name);
  const modules = new Modules().add(operation);
  const fastCall = FAST_CALLS[name] ?? '';
  const first = new Modules().add(fastCall);
  const used = [...modules.used].filter((each) => !first.used.has(each));
  const isGuarded = used.includes('operation');
  const rest = `${modulesText(used, [...modules.onDemand])}${isGuarded ? guarded(operation) : operation}`;
  const before = `${modulesText([...first.used], [...first.onDemand])}${fastCall}`;
  return compact(withFastPathConstants(`${moduleText('base')}${before}${constantsText(rest)}${rest}`));
}

/** Returns the text of a fast script, which says when it declines, and when the log of statistics is long. */
function fastOperationText(name: FastScriptName): string {
  const operation = luaText(`fast/${name.slice('fast-'.length)}.lua`);
  return `local answer = (function()\n${operation}end)()\nif not answer then return '${DECLINED}' end\n${ANSWER}`;
}

const ANSWER = `if statistics.isLogLong then return { '${LOG_IS_LONG}', answer } end\nreturn answer\n`;

/** Returns an operation that says when a repair must come first, and when the log of statistics is long. */
const guarded = (operation: string): string =>
  [
    `if operation.begin() then return '${NEEDS_REPAIR}' end`,
    `local answer = (function()\n${operation}end)()\n${ANSWER}`,
  ].join('\n');

/** Returns the text of an operation. A worker settles and claims in one call, so that is one script. */
function operationText(name: ScriptName): string {
  if (name === 'settle-claim') {
    const [settle, claim] = [operationText('settle'), operationText('claim')];
    return `return operation.inSequence(function()\n${settle}end, function()\n${claim}end)\n`;
  }
  const guard = REFUSED_WHILE_CLOSED.includes(name)
    ? 'local no = operation.refuseWhileClosed() if no then return no end\n'
    : '';
  return `${guard}${luaText(`${isRead(name) ? 'reads' : 'operations'}/${name}.lua`)}`;
}

/** Returns the first script on every connection. It uses the base alone. */
export const epochText = (): string => compact(`${moduleText('base')}${luaText('operations/epoch.lua')}`);

const loaded = new Map<ScriptName, Script>();

/**
 * Returns a script. It is joined when it is first needed, and once for every store of the process: a process sends a few
 * of them, and to join all of them takes tens of megabytes. Their files are read together, at the first script: those of
 * another version may replace them while this process runs.
 */
export function scriptOf(name: ScriptName): Script {
  if (loaded.size === 0) for (const path of luaPaths()) luaText(path);
  const script = loaded.get(name) ?? load(name);
  loaded.set(name, script);
  return script;
}

function load(name: ScriptName): Script {
  const text = scriptText(name);
  return { name, text, sha: createHash('sha1').update(text).digest('hex'), isRead: isRead(name) };
}

type FastScriptName = (typeof FAST_SCRIPTS)[number];

function isFast(name: ScriptName): name is FastScriptName {
  const fast: readonly string[] = FAST_SCRIPTS;
  return fast.includes(name);
}

/** Returns the fast script that is sent before a general one, if there is one. */
export const fastScriptOf = (name: ScriptName): FastScriptName | undefined =>
  FAST_SCRIPTS.find((fast) => fast === `fast-${name}`);

function isRead(name: ScriptName): boolean {
  const reads: readonly string[] = READ_SCRIPTS;
  return reads.includes(name);
}
