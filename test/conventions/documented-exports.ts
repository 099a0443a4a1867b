/**
 * Which exports of the package have a doc comment, and which of their members. Read from the sources: the entry points of
 * package.json name the files, and a re-export is followed to the declaration.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'vite';
import type { SyntaxNode } from './source-tree.ts';
import { isNode, lineAt } from './source-tree.ts';

/** An export, or a member of one. */
export interface Documented {
  /** Such as `Queue` or `Queue.add`. */
  readonly name: string;
  readonly kind: 'export' | 'member';
  /** Where it is declared, as `path:line`. */
  readonly at: string;
  readonly isDocumented: boolean;
}

interface Module {
  readonly path: string;
  readonly text: string;
  readonly body: readonly SyntaxNode[];
  /** Where doc comments end. */
  readonly docEnds: readonly number[];
}

/** Reads the text of a file by its path. */
export type ReadText = (path: string) => string;

/** Returns the exports of an entry point with their members, in the order of the source. */
export function documentedOf(path: string, read: ReadText): readonly Documented[] {
  return exportsOf(parse(path, read), read).flatMap(({ name, node, module }) => {
    const at = `${module.path}:${lineAt(module.text, node.start)}`;
    return [
      { name, kind: 'export' as const, at, isDocumented: hasDoc(module, node) },
      ...membersOf(module, name, node),
    ];
  });
}

interface Exported {
  readonly name: string;
  /** The statement that declares it, with its `export`. */
  readonly node: SyntaxNode;
  readonly module: Module;
}

function exportsOf(module: Module, read: ReadText): readonly Exported[] {
  return module.body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration') return [];
    if (isNode(node['declaration'])) return declaredBy(node).map((name) => ({ name, node, module }));
    return nodesIn(node['specifiers']).map((each) => {
      const from = isNode(node['source']) ? sourceOf(module, node['source'], read) : module;
      return { ...resolve(from, nameOf(each['local']), read), name: nameOf(each['exported']) };
    });
  });
}

/** Finds what a module declares by a name, or passes on from another module. */
function resolve(module: Module, name: string, read: ReadText): Exported {
  const declares = (node: SyntaxNode) => (isNode(node['declaration']) ? declaredBy(node) : namesOf(node));
  const node = module.body.find((each) => declares(each).includes(name));
  if (node !== undefined) return { name, node, module };
  for (const each of module.body) {
    const specifier = nodesIn(each['specifiers']).find(({ exported }) => nameOf(exported) === name);
    if (specifier === undefined || !isNode(each['source'])) continue;
    return resolve(sourceOf(module, each['source'], read), nameOf(specifier['local']), read);
  }
  throw new Error(`${module.path} has no ${name}`);
}

function sourceOf({ path }: Module, source: SyntaxNode, read: ReadText): Module {
  return parse(join(dirname(path), String(source['value'])), read);
}

const declaredBy = (node: SyntaxNode): readonly string[] => namesOf(node['declaration'] as SyntaxNode);

function namesOf(node: SyntaxNode): readonly string[] {
  if (isNode(node['id'])) return [nameOf(node['id'])];
  return nodesIn(node['declarations']).map(({ id }) => nameOf(id));
}

function membersOf(module: Module, owner: string, statement: SyntaxNode): readonly Documented[] {
  const declaration = isNode(statement['declaration']) ? statement['declaration'] : statement;
  const seen = new Set<string>();
  return memberNodes(declaration).flatMap((node) => {
    const name = isNode(node['key']) ? nameOf(node['key']) : '';
    const isHidden = node['accessibility'] === 'private' || name.startsWith('#') || name === 'constructor';
    // Of an overloaded method the first signature counts.
    if (name === '' || isHidden || seen.has(name)) return [];
    seen.add(name);
    const at = `${module.path}:${lineAt(module.text, node.start)}`;
    return [{ name: `${owner}.${name}`, kind: 'member' as const, at, isDocumented: hasDoc(module, node) }];
  });
}

/** The members of an interface, a class, or a type that is written as an object, alone or as a part of one. */
function memberNodes(node: SyntaxNode): readonly SyntaxNode[] {
  switch (node.type) {
    case 'TSInterfaceDeclaration':
    case 'ClassDeclaration':
      return nodesIn((node['body'] as SyntaxNode)['body']);
    case 'TSTypeAliasDeclaration':
      return memberNodes(node['typeAnnotation'] as SyntaxNode);
    case 'TSTypeLiteral':
      return nodesIn(node['members']);
    case 'TSIntersectionType':
    case 'TSUnionType':
      return nodesIn(node['types']).flatMap(memberNodes);
    default:
      return [];
  }
}

/** A doc comment stands before it, with nothing but space between. */
function hasDoc({ text, docEnds }: Module, { start }: SyntaxNode): boolean {
  return docEnds.some((end) => end <= start && text.slice(end, start).trim() === '');
}

function parse(path: string, read: ReadText): Module {
  const text = read(path);
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const docs = comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*'));
  return { path, text, body: program.body as unknown as readonly SyntaxNode[], docEnds: docs.map(({ end }) => end) };
}

const nodesIn = (value: unknown): readonly SyntaxNode[] => (Array.isArray(value) ? value.filter(isNode) : []);

/** Of an identifier, a private one, or a name in quotes. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return '';
  const name = node['name'] ?? node['value'];
  if (typeof name !== 'string') return '';
  return node.type === 'PrivateIdentifier' ? `#${name}` : name;
}

/** Returns the sources of the package's entry points: `.` is src/library/index.ts. */
export function entryPoints(root: string): readonly { readonly name: string; readonly path: string }[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types: string }>;
  };
  return Object.entries(exports).flatMap(([name, target]) =>
    typeof target === 'string'
      ? []
      : [{ name, path: join(root, target.types.replace('/dist/', '/src/').replace(/\.d\.ts$/, '.ts')) }],
  );
}
