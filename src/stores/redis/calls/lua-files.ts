/**
 * Loads the Lua files and joins them into scripts.
 *
 * A file names the modules that it uses in its first lines. `-- uses:` names modules that are set up before the operation
 * begins. `-- on demand:` names modules that are set up by the first `require('…')` of a call. A script carries both, and
 * what they use in turn. A module that another one uses comes before it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../lua', import.meta.url));
const texts = new Map<string, string>();
let modulePaths: ReadonlyMap<string, string> | null = null;

/** Returns the text of a file by its path in the folder of the Lua files. */
export function luaText(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(folder, path), 'utf8');
  texts.set(path, text);
  return text;
}

/** Returns the paths of all Lua files. */
export function luaPaths(): readonly string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => path.endsWith('.lua')).map((path) => path.replaceAll('\\', '/'));
}

/** Returns the text of a module; throws if there is none of that name. */
export function moduleText(name: string): string {
  modulePaths ??= new Map(
    luaPaths().flatMap((path) => (path.startsWith('lib/') ? [[basename(path, '.lua'), path]] : [])),
  );
  const path = modulePaths.get(name);
  if (path === undefined) throw new Error(`no Lua module is named ${name}: check the "uses" and "on demand" lines`);
  return luaText(path);
}

/** Returns the modules that a text names in its lines of a kind. */
export function namedModules(text: string, kind: 'uses' | 'on demand'): readonly string[] {
  return [...text.matchAll(new RegExp(`^-- ${kind}: (.*)$`, 'gm'))].flatMap(([, names = '']) => names.split(', '));
}

/** The modules of a script, each set in the order in which they are set up. */
export class Modules {
  readonly used = new Set<string>();
  readonly onDemand = new Set<string>();
  readonly #seen = new Set<string>();

  /** Adds the modules that a text names, and those that they name. */
  add(text: string): this {
    for (const kind of ['uses', 'on demand'] as const) {
      for (const name of namedModules(text, kind)) {
        if (this.#seen.has(name)) continue;
        this.#seen.add(name);
        this.add(moduleText(name));
        (kind === 'uses' ? this.used : this.onDemand).add(name);
      }
    }
    return this;
  }
}

/** Returns whether a module returns a table; the others declare local functions. */
const isTable = (name: string): boolean => /^return /m.test(moduleText(name));

/** Returns the text of modules. A table is made in a function of its own, so modules may use each other. */
export function modulesText(used: readonly string[], onDemand: readonly string[]): string {
  const tables = used.filter(isTable);
  const text = used.filter((name) => !isTable(name)).map(moduleText);
  if (tables.length === 0) return text.join('');
  const made = (name: string) => `(function()\n${moduleText(name)}end)()\n`;
  return [
    ...text,
    `local require, ${tables.map(variableOf).join(', ')}\n(function()\n`,
    ...tables.map((name) => `${variableOf(name)} = ${made(name)}`),
    onDemand.length === 0 ? '' : requireText(onDemand.map((name) => [name, made(name)])),
    'end)()\n',
  ].join('');
}

function requireText(modules: readonly (readonly [name: string, made: string])[]): string {
  return [
    'local loaded = {}\nrequire = function(name)\nif loaded[name] then return loaded[name] end\n',
    ...modules.map(([name, made]) => `if name == '${name}' then loaded[name] = ${made}end\n`),
    'return loaded[name]\nend\n',
  ].join('');
}

/** Returns the name of the variable that holds a module: `unitOfWork` for `unit-of-work`. */
export function variableOf(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A string, a comment up to the end of its line, or spaces. */
const TOKEN = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|--.*| +/g;

/** Removes comments, and spaces that separate no words: together a third of the text. Every statement keeps its line. */
export function compact(text: string): string {
  const lines = text.split('\n').map((line) => compactLine(line.trim()));
  return lines.flatMap((line) => (line === '' ? [] : [`${line}\n`])).join('');
}

function compactLine(line: string): string {
  const code = line.replace(TOKEN, (token, at: number) => {
    if (token.startsWith('--')) return '';
    if (!token.startsWith(' ')) return token;
    return isSeparator(line.charAt(at - 1), line.charAt(at + token.length)) ? ' ' : '';
  });
  return code.trimEnd();
}

/** Returns whether two characters would mean something else without a space between them, as in `1 ..` and `- -`. */
function isSeparator(before: string, after: string): boolean {
  if (/\d/.test(before) && after === '.') return true;
  return (/\w/.test(before) && /\w/.test(after)) || (before === '-' && after === '-');
}
