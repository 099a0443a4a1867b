import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { HISTORY_EVENTS } from '../../../core/job/history.ts';
import { REFUSAL_CODES } from '../../../core/ports/refusal.ts';
import { compact, luaPaths, luaText, Modules, moduleText, namedModules, variableOf } from './lua-files.ts';
import { CHANGING_SCRIPTS, FAST_SCRIPTS, READ_SCRIPTS, type ScriptName, scriptText } from './scripts.ts';

const names = [...CHANGING_SCRIPTS, ...FAST_SCRIPTS, ...READ_SCRIPTS];
const CHANGING = /call\('(HSET|HDEL|HINCRBY|ZADD|ZREM|RPUSH|LPUSH|LPOP|LTRIM|LREM|SADD|SREM|SET|DEL|UNLINK|EXPIRE)'/;

const namesIn = (folder: string) =>
  luaPaths()
    .filter((path) => path.startsWith(`${folder}/`))
    .map((path) => basename(path, '.lua'))
    .sort();

test('There is one file per operation in operations, one per read in reads, and one per fast script in fast.', () => {
  const changing = CHANGING_SCRIPTS.filter((name) => name !== 'settle-claim');
  expect(namesIn('operations')).toEqual([...changing, 'epoch'].sort());
  expect(namesIn('reads')).toEqual([...READ_SCRIPTS].sort());
  expect(namesIn('fast').map((name) => `fast-${name}`)).toEqual([...FAST_SCRIPTS].sort());
});

test.each(names)('%s is the same text every time, without comments', (name) => {
  expect(scriptText(name)).toBe(scriptText(name));
  expect(scriptText(name)).not.toMatch(/^\s*--/m);
});

test('Every write goes through the function that a test can stop.', () => {
  for (const name of names) expect(scriptText(name)).not.toMatch(CHANGING);
});

test.each(READ_SCRIPTS)('%s writes nothing', (name) => {
  expect(luaText(`reads/${name}.lua`)).not.toMatch(/\bwrite\(|unitOfWork\.|operation\./);
});

/** The text of a file without its comments; and without strings, if only names count. */
const codeOf = (text: string) => text.replace(/--.*/g, '');
const withoutStrings = (code: string) => code.replace(/'[^'\n]*'/g, "''");

const required = (text: string) => [...codeOf(text).matchAll(/\brequire\('([\w-]+)'\)/g)].map(([, name = '']) => name);
const onDemand = new Set(luaPaths().flatMap((path) => required(luaText(path))));
const tables = namesIn('lib').filter((name) => name === 'statistics' || /^return /m.test(moduleText(name)));

/** The modules to which a text refers by their variable. */
function usedIn(text: string): readonly string[] {
  const code = withoutStrings(codeOf(text));
  const found = tables.filter(
    (name) => new RegExp(`(?<![\\w.])${variableOf(name)}\\.`).test(code) && !onDemand.has(name),
  );
  return [
    ...found,
    ...(/(?<![\w.:])(?:text|number|orNil)\(/.test(code) ? ['values'] : []),
    ...['aggregates', 'aggregate-log'].filter((name) => code.includes(`${variableOf(name)}()`)),
  ];
}

const checked = luaPaths().filter(
  (path) =>
    !/^lib\/(?:fastpath\/spread|statistics|statistics-log|aggregates|aggregate-log|histogram|values)\.lua$/.test(path),
);

test.each(checked)('%s names the modules that it uses, and no others', (path) => {
  const text = luaText(path);
  const own = path.startsWith('lib/') ? basename(path, '.lua') : '';
  expect([...namedModules(text, 'uses')].sort()).toEqual(
    usedIn(text)
      .filter((name) => name !== own)
      .sort(),
  );
  expect([...namedModules(text, 'on demand')].sort()).toEqual([...new Set(required(text))].sort());
});

test('A module is joined once, after those that it uses.', () => {
  const modules = new Modules().add('-- uses: lifecycle, clock\n-- uses: lifecycle');
  const used = [...modules.used];
  expect(used.indexOf('clock')).toBeGreaterThan(used.indexOf('context'));
  expect([...modules.onDemand]).toContain('outbox');
  expect(() => new Modules().add('-- uses: no-such-module')).toThrow('no Lua module is named no-such-module');
});

const MAX_READ_KB = 25;
const MAX_FAST_KB = 40;
/** A settlement or a claim, without the fast path. Six of them are the rates of throttles, set up only when a job has one. */
const MAX_OUTCOME_KB = 86;
const MAX_BOTH_KB = 95;
/** The others; add and heartbeat have both paths in one script. */
const MAX_CHANGING_KB = 100;
const kilobytesOf = (name: ScriptName) => Buffer.byteLength(scriptText(name)) / 1024;

test.each([
  { kind: 'a read', max: MAX_READ_KB, scripts: READ_SCRIPTS },
  { kind: 'a fast script', max: MAX_FAST_KB, scripts: FAST_SCRIPTS },
  { kind: 'a settlement or claim', max: MAX_OUTCOME_KB, scripts: ['settle', 'claim'] as const },
  { kind: 'a settlement with a claim', max: MAX_BOTH_KB, scripts: ['settle-claim'] as const },
  { kind: 'any other script', max: MAX_CHANGING_KB, scripts: CHANGING_SCRIPTS },
])('$kind carries at most $max KB', ({ max, scripts }) => {
  expect(scripts.filter((name) => kilobytesOf(name) > max)).toEqual([]);
});

test.each([
  ["local a = b .. 'c  -- d' -- e", "local a=b..'c  -- d'"],
  ['  return 1 .. x - -y', 'return 1 ..x- -y'],
  ['if not f(a, "b c") then g() end', 'if not f(a,"b c")then g()end'],
])('%j is sent as %j', (line, sent) => {
  expect(compact(`-- a comment\n\n${line}\n`)).toBe(`${sent}\n`);
});

test('No Lua file has more than 350 lines.', () => {
  expect(luaPaths().filter((path) => luaText(path).split('\n').length > 351)).toEqual([]);
});

const allCode = luaPaths()
  .map((path) => codeOf(luaText(path)))
  .join('\n');
const namesFound = (pattern: RegExp) => [...allCode.matchAll(pattern)].map(([, name = '']) => name);

test('Refusals and history events in Lua are those of core.', () => {
  const codes = namesFound(/'!([a-z-]+[a-z])\b/g);
  expect(codes).toContain('lease-lost');
  // The state of a queue is appended to it: queue-down, queue-deleted.
  expect(codes.filter((code) => code !== 'queue' && !REFUSAL_CODES.some((known) => known === code))).toEqual([]);
  const events = namesFound(/\b(?:apply|appendRow)\(\w+, '([a-z-]+)'/g);
  expect(events).toContain('committed');
  expect(events.filter((event) => !HISTORY_EVENTS.some((known) => known === event))).toEqual([]);
});

test.each(names)('%s has the constants that it uses', (name) => {
  const text = scriptText(name);
  const declared = /local K=(\{.*)/.exec(text)?.[1] ?? '';
  const used = [...text.matchAll(/\bK\.(\w+)\b(?!\()/g)].map(([, each = '']) => each);
  expect(used.filter((each) => !declared.includes(`${each}=`))).toEqual([]);
});
