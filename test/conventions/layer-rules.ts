/**
 * Who may import whom, and what may stand in a source file. Each rule answers breaches as lines for people.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { isNode, lineAt, type Place, type SourceFile, type SyntaxNode, walk } from './source-tree.ts';

/** By layer, the layers that it may import besides itself: the table in CONTRIBUTING.md. */
const allowed = readLayers();

/** Packages that one place alone may know. */
const owners: Readonly<Record<string, string>> = {
  '@opentelemetry/api': 'telemetry',
  '@photostructure/sqlite': 'stores/sqlite',
  pg: 'library',
};

const isEntryFile = (path: string) => path.startsWith('cli/') || /-(thread|process)\.ts$/.test(path);
const isIndexAllowed = (path: string) => /^(library|testing|(stores|compat)\/[^/]+)\/index\.ts$/.test(path);
const processMembers = new Set('env argv exit exitCode on once off stdin stdout stderr'.split(' '));
const impureNames = new Set(
  'process performance crypto fetch setTimeout setInterval setImmediate Buffer require'.split(' '),
);
const emptyNames = new Set('utils util helpers helper common types manager'.split(' '));

function readLayers(): Readonly<Record<string, readonly string[]>> {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'CONTRIBUTING.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z/*]+)` \| (nothing|`[^|]*`) \|/gm)];
  return Object.fromEntries(
    rows.map(([, layer = '', names = '']) => [layer, [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)]),
  );
}

type Rule = (place: Place, file: SourceFile) => string | undefined;

const rules: readonly Rule[] = [
  layers,
  ambient,
  purity,
  quietImport,
  (place) => (place.node.type === 'TSAnyKeyword' ? '`any`; use `unknown` or say what it is' : undefined),
  (place) => (place.node.type === 'TSEnumDeclaration' ? 'an enum; use a union of strings' : undefined),
  (place) => (place.node.type === 'ExportDefaultDeclaration' ? 'a default export; export it by name' : undefined),
  inheritance,
];

/** All breaches of one file, such as `core/job/job.ts:3: core must not import node:fs`. */
export function findBreaches(file: SourceFile): string[] {
  const breaches = nameProblems(file).map((what) => `${file.path}: ${what}`);
  for (const place of walk(file)) {
    for (const rule of rules) {
      const what = rule(place, file);
      if (what !== undefined) breaches.push(`${file.path}:${lineAt(file.text, place.node.start)}: ${what}`);
    }
  }
  return breaches;
}

/** Imports of one file of the web UI that its row in the table does not allow. */
export function findLayerBreaches(file: SourceFile): string[] {
  const problems = [...walk(file)].flatMap((place) => layers(place, file) ?? []);
  return problems.filter((what) => what.includes('must not import')).map((what) => `${file.path}: ${what}`);
}

function nameProblems(file: SourceFile): string[] {
  const problems: string[] = [];
  const parts = file.path.replace(/\.ts$/, '').split('/');
  const name = parts.at(-1) ?? '';
  const empty = parts.find((part) => emptyNames.has(part));
  if (empty) problems.push(`the name "${empty}" says nothing; name it after what it does`);
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) problems.push('file names are kebab-case');
  if (layerOf(file.path) === undefined) problems.push('stands in no layer; add its folder to the table of layers');
  if (isIndexAllowed(file.path)) return problems;
  if (name === 'index') problems.push('an index.ts that is not one of the public ones');
  if (isBarrel(file)) problems.push('only passes on what other files export; import from where things are made');
  return problems;
}

function isBarrel(file: SourceFile): boolean {
  const [program] = walk(file);
  const statements = fieldNodes(program?.node, 'body');
  const passesOn = statements.filter((each) => each.type.startsWith('Export') && !isNode(each['declaration']));
  const imports = statements.filter((each) => each.type === 'ImportDeclaration');
  return passesOn.length > 0 && passesOn.length + imports.length === statements.length;
}

/** `core`, `stores/redis`, `compat/rq`; undefined for a folder that is no layer. */
function layerOf(path: string): string | undefined {
  const [first = '', second = ''] = path.split('/');
  if (!path.includes('/')) return undefined;
  if (first === 'stores' || first === 'compat') return `${first}/${second}`;
  return first in allowed ? first : undefined;
}

const mayImport = (layer: string): readonly string[] => allowed[layer] ?? allowed[layer.replace(/\/.*/, '/*')] ?? [];

function layers({ node }: Place, file: SourceFile): string | undefined {
  const name = importedName(node);
  const layer = layerOf(file.path);
  if (name === undefined || layer === undefined) return undefined;
  if (!name.startsWith('.')) return packageProblem(layer, name);
  if (!name.endsWith('.ts')) return `import ${name}: relative imports end in .ts`;
  const path = posix.join(posix.dirname(file.path), name).replace(/^src\//, '');
  const target = layerOf(path);
  if (target === undefined) return `${layer} must not import ${name}, which is in no layer`;
  const isAllowed = mayImport(layer).some((each) => each === target || each === target.replace(/\/.*/, '/*'));
  return target === layer || isAllowed ? undefined : `${layer} must not import ${target} (${name})`;
}

function packageProblem(layer: string, name: string): string | undefined {
  if (layer === 'core') return `core must not import ${name}: it imports nothing but itself`;
  if (name === 'node:process') return 'import of node:process; use the global, where it may be used at all';
  const owner = Object.entries(owners).find(([each]) => name === each || name.startsWith(`${each}/`))?.[1];
  return owner && owner !== layer ? `${layer} must not import ${name}: only ${owner} knows it` : undefined;
}

/** Static and dynamic imports, `export … from`, and `import('…')` as a type. */
function importedName(node: SyntaxNode): string | undefined {
  const isImport = /^(ImportDeclaration|ImportExpression|ExportNamedDeclaration|ExportAllDeclaration|TSImportType)$/;
  if (!isImport.test(node.type)) return undefined;
  const source = node['source'];
  return isNode(source) && typeof source['value'] === 'string' ? source['value'] : undefined;
}

function ambient({ node }: Place, file: SourceFile): string | undefined {
  if (isEntryFile(file.path) || node.type !== 'MemberExpression') return undefined;
  const [object, property] = [nameOf(node['object']), nameOf(node['property'])];
  if (object === 'console') return 'console; only cli and entry files of threads and processes speak to a terminal';
  if (object !== 'process' || !property || !processMembers.has(property)) return undefined;
  return `process.${property}; only cli and entry files of threads and processes may use it`;
}

function purity({ node, around }: Place, file: SourceFile): string | undefined {
  if (layerOf(file.path) !== 'core') return undefined;
  const clock = 'core reads no clock: take the time as an argument';
  if (node.type === 'NewExpression' && nameOf(node['callee']) === 'Date') {
    return fieldNodes(node, 'arguments').length === 0 ? clock : undefined;
  }
  if (node.type === 'MemberExpression') {
    const path = `${nameOf(node['object'])}.${nameOf(node['property'])}`;
    if (path === 'Date.now') return clock;
    if (path === 'Math.random') return 'core throws no dice: take the random number as an argument';
  }
  const isUse = around[0]?.['callee'] === node || around[0]?.['object'] === node;
  const name = nameOf(node);
  return isUse && name && impureNames.has(name) ? `${name}; core does no I/O` : undefined;
}

/** Nothing runs at import: a statement at the top of a file is a declaration. */
function quietImport({ node, around }: Place, file: SourceFile): string | undefined {
  if (isEntryFile(file.path) || around[0]?.type !== 'Program') return undefined;
  const isWork = /^(Expression|If|For|ForOf|ForIn|While|Try|Block)Statement$/.test(node.type);
  return isWork ? 'work at import; put it into a function' : undefined;
}

function inheritance({ node }: Place, file: SourceFile): string | undefined {
  if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return undefined;
  const parent = nameOf(node['superClass']);
  // Worqr's class is one by its documents.
  const isForeign = parent === 'EventEmitter' && layerOf(file.path) === 'compat/worqr';
  const isRight = parent === undefined || parent.endsWith('Error') || isForeign;
  return isRight ? undefined : `extends ${parent}; only errors inherit`;
}

const nameOf = (value: unknown): string | undefined =>
  isNode(value) && value.type === 'Identifier' ? String(value['name']) : undefined;

const fieldNodes = (node: SyntaxNode | undefined, field: string): SyntaxNode[] => {
  const value = node?.[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
};
