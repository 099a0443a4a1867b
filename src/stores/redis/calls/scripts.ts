/**
 * The scripts. Each is the base, for some the fast path, the constants and modules that it uses, and one file of
 * `lua/operations` or `lua/reads`.
 */
import { createHash } from 'node:crypto';
import { CALLS_REFUSED_WHILE_CLOSED } from '../../../core/operations/perform.ts';
import { constantsText, everydayText } from './constants.ts';
import { luaText, Modules, modulesText, moduleText, withoutComments } from './lua-files.ts';

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
  'migration-state',
  'migration-write',
  'migration-clear',
  'settle-claim',
] as const;

export const READ_SCRIPTS = [
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
  'wait-reasons',
  'workers',
  'records-get',
  'records-list',
  'migration-read',
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

/** The fast paths, which run before any other module is set up (lua/lib/swift.lua, birth.lua). */
const FAST_PATHS: Partial<Record<ScriptName, { readonly module: string; readonly call: string }>> = {
  add: { module: 'birth', call: 'local said = birth() if said then return said end\n' },
  settle: { module: 'swift', call: 'local said = swift.run(2, #args) if said then return said end\n' },
  claim: { module: 'swift', call: 'local said, claimed = swift.run(2, 1, 2) if said then return claimed end\n' },
  'settle-claim': {
    module: 'swift',
    call: [
      'local count = tonumber(args[2])',
      'local said, claimed = swift.run(3, 2 + count, 3 + count)',
      'if said then table.insert(claimed, 1, said) return claimed end\n',
    ].join('\n'),
  },
};

const REFUSED_WHILE_CLOSED: readonly ScriptName[] = CALLS_REFUSED_WHILE_CLOSED;

/** Returns the text of a script: the base, its fast path, the modules that it uses, the operation. */
export function scriptText(name: ScriptName): string {
  const operation = operationText(name);
  const modules = new Modules().add(operation);
  const fastPath = FAST_PATHS[name];
  const first = fastPath === undefined ? [] : [...new Modules().add(`-- uses: ${fastPath.module}`).used];
  const used = [...modules.used].filter((each) => !first.includes(each));
  const rest = `${modulesText(used, [...modules.onDemand])}${operation}`;
  const before = `${modulesText(first, [])}${fastPath?.call ?? ''}`;
  const everyday = `${before}${rest}`.includes('EVERYDAY.') ? everydayText() : '';
  return withoutComments(`${moduleText('base')}${everyday}${before}${constantsText(rest)}${rest}`);
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
