/**
 * The sources of Longhaul as syntax trees, for the tests that hold the house rules.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';

export interface SourceFile {
  /** Relative to src/, such as `core/job/job.ts`; of the page's, from web/ on. */
  readonly path: string;
  readonly text: string;
}

/** A node of the tree; its other fields are read by name. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Place {
  readonly node: SyntaxNode;
  /** The nodes around it, the nearest first. */
  readonly around: readonly SyntaxNode[];
}

const root = join(import.meta.dirname, '..', '..');

/** All sources but the unit tests, which may reach further than the code beside them. */
export function readSources(): SourceFile[] {
  return readFolder(join(root, 'src'));
}

/** Those of the web page. They stand in no layer: it is a program of its own, that asks the API. */
export function readPageSources(): SourceFile[] {
  return readFolder(join(root, 'web/src')).map(({ path, text }) => ({ path: `web/src/${path}`, text }));
}

function readFolder(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

/** The whole tree, a node before what is in it. */
export function* walk(file: SourceFile): Generator<Place> {
  const { program, errors } = parseSync(file.path, file.text);
  if (errors.length > 0) throw new Error(`${file.path} cannot be parsed: ${errors[0]?.message}`);
  yield* visit(program as unknown as SyntaxNode, []);
}

function* visit(node: SyntaxNode, around: readonly SyntaxNode[]): Generator<Place> {
  yield { node, around };
  const inside = [node, ...around];
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) yield* visit(child, inside);
    }
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** Counted from 1. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
