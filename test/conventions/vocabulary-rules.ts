/**
 * The words that the glossary rejects, and how they are found: in prose (comments, messages, documentation), as
 * identifiers, and in the names of files. The lists are the glossary's own.
 */
import type { SourceFile } from './source-tree.ts';
import { lineAt, walk } from './source-tree.ts';

/** One place that breaks a rule, as `path:line: text`. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export const REJECTED_IN_PROSE = [
  'whoever',
  'nobody',
  'somebody',
  'anybody',
  'everybody',
  'goes by',
  'gone by',
  'also not',
  'moving house',
  'whereabouts',
  'stranger',
] as const;
export type RejectedWord = (typeof REJECTED_IN_PROSE)[number];

export const INDEFINITE_PRONOUNS: readonly RejectedWord[] = ['whoever', 'nobody', 'somebody', 'anybody', 'everybody'];

export const REJECTED_AS_NAME: ReadonlySet<string> = new Set([
  'keeper',
  'door',
  'lane',
  'swift',
  'prelude',
  'reign',
  'tally',
  'census',
  'duel',
  'arena',
]);

/** Returns every place of a word, also of two words with a line break and the sign of a comment between them. */
export function findWord({ path, text }: SourceFile, word: RejectedWord): readonly Finding[] {
  const pattern = new RegExp(`\\b${word.replace(' ', String.raw`(?:\s|\*|//|--|#)+`)}s?\\b`, 'gi');
  return [...text.matchAll(pattern)].map(({ index }) => findingAt({ path, text }, index));
}

/** Returns every identifier of a TypeScript file of which a part is a rejected word: `#leaseKeeper`, `LANES`. */
export function findIdentifiers(file: SourceFile): readonly Finding[] {
  // A shorthand, as in `{ name }`, is two nodes at one place.
  const offsets = new Set<number>();
  for (const { node } of walk(file)) {
    const name = node.type.endsWith('Identifier') ? node['name'] : undefined;
    if (typeof name === 'string' && hasRejectedPart(name)) offsets.add(node.start);
  }
  return [...offsets].map((offset) => findingAt(file, offset));
}

/** Returns a finding where a folder or the file itself is named by a rejected word. */
export function findFileName({ path }: Pick<SourceFile, 'path'>): readonly Finding[] {
  return hasRejectedPart(path) ? [{ path, line: 1, text: '(the name of the file or of its folder)' }] : [];
}

function hasRejectedPart(name: string): boolean {
  const parts = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map((part) => part.toLowerCase());
  return parts.some((part) => REJECTED_AS_NAME.has(part) || REJECTED_AS_NAME.has(part.replace(/s$/, '')));
}

function findingAt({ path, text }: SourceFile, offset: number): Finding {
  const line = lineAt(text, offset);
  return { path, line, text: (text.split('\n')[line - 1] ?? '').trim().slice(0, 120) };
}
