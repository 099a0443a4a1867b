/**
 * The scripts. Each is the base, for some the fast path, the constants and modules that it uses, and one file of
 * `lua/operations` or `lua/reads`.
 */
import { createHash } from 'node:crypto';
import { CALLS_REFUSED_WHILE_CLOSED } from '../../../core/operations/perform.ts';
import { constantsText, fastPathConstants } from './constants.ts';
import { luaText, Modules, modulesText, moduleText, withoutComments } from './lua-files.ts';

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
] as const;

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
export type ScriptName = (typeof CHANGING_SCRIPTS)[number] | (typeof READ_SCRIPTS)[number];

export interface Script {
  readonly name: ScriptName;
  readonly text: string;
  readonly sha: string;
  /** Whether it writes nothing, so that a call whose reply was lost can be repeated. */
  readonly isRead: boolean;
}

/** How an operation tries the fast path (lua/lib/fastpath.lua), before the modules of the general path are set up. */
const FAST_PATHS: Partial<Record<ScriptName, { readonly uses: string; readonly call: string }>> = {
  add: { uses: 'fastpath', call: 'local answer = fastpath.add() if answer then return answer end\n' },
  heartbeat: { uses: 'fastpath', call: 'local answer = fastpath.heartbeat() if answer then return answer end\n' },
  settle: {
    uses: 'fastpath, statistics, aggregate-log',
    call: 'local answer = fastpath.run(statistics, aggregateLog, 2, #args) if answer then return answer end\n',
  },
  claim: {
    uses: 'fastpath, statistics, aggregate-log',
    call: 'local answer, claimed = fastpath.run(statistics, aggregateLog, 2, 1, 2) if answer then return claimed end\n',
  },
  'settle-claim': {
    uses: 'fastpath, statistics, aggregate-log',
    call: [
      'local count = tonumber(args[2])',
      'local answer, claimed = fastpath.run(statistics, aggregateLog, 3, 2 + count, 3 + count)',
      'if answer then table.insert(claimed, 1, answer) return claimed end\n',
    ].join('\n'),
  },
};

const REFUSED_WHILE_CLOSED: readonly ScriptName[] = CALLS_REFUSED_WHILE_CLOSED;

/** Returns the text of a script: the base, its fast path, the modules that it uses, the operation. */
export function scriptText(name: ScriptName): string {
  const operation = operationText(name);
  const modules = new Modules().add(operation);
  const fastPath = FAST_PATHS[name];
  const first = new Modules().add(fastPath === undefined ? '' : `-- uses: ${fastPath.uses}`);
  const used = [...modules.used].filter((each) => !first.used.has(each));
  const rest = `${modulesText(used, [...modules.onDemand])}${operation}`;
  const before = `${modulesText([...first.used], [...first.onDemand])}${fastPath?.call ?? ''}`;
  const [fast, general] = fastPathConstants(before, rest);
  return withoutComments(`${moduleText('base')}${fast}${before}${general}${constantsText(rest)}${rest}`);
}

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
export const epochText = (): string => withoutComments(`${moduleText('base')}${luaText('operations/epoch.lua')}`);

let loaded: ReadonlyMap<ScriptName, Script> | null = null;

/** Returns all scripts. They are joined once: the texts are the same for every store of the process. */
export function loadScripts(): ReadonlyMap<ScriptName, Script> {
  loaded ??= loadAll();
  return loaded;
}

function loadAll(): ReadonlyMap<ScriptName, Script> {
  const names: readonly ScriptName[] = [...CHANGING_SCRIPTS, ...READ_SCRIPTS];
  return new Map(names.map((name) => [name, load(name)]));
}

function load(name: ScriptName): Script {
  const text = scriptText(name);
  return { name, text, sha: createHash('sha1').update(text).digest('hex'), isRead: isRead(name) };
}

function isRead(name: ScriptName): boolean {
  const reads: readonly string[] = READ_SCRIPTS;
  return reads.includes(name);
}
