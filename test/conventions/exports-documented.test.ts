/**
 * Requires a doc comment on every export of the package, and on 95 % of their members.
 * `LONGHAUL_LIST=1 npx vitest run test/conventions/exports-documented.test.ts` prints each that lacks one.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Documented, documentedOf, entryPoints } from './documented-exports.ts';

const root = join(import.meta.dirname, '..', '..');

/** The share that may lack a doc comment. */
const CEILINGS = { export: 0, member: 0.05 };

/** Returns each declaration once, even if two entry points export it. */
function everyExport(): readonly Documented[] {
  const all = entryPoints(root).flatMap(({ path }) => documentedOf(path, (each) => readFileSync(each, 'utf8')));
  return [...new Map(all.map((each) => [`${each.at} ${each.name}`, each])).values()];
}

describe('the exports of the package', () => {
  const all = everyExport();

  it.each(['export', 'member'] as const)('have a doc comment: each %s', (kind) => {
    const each = all.filter((one) => one.kind === kind);
    const bare = each.filter(({ isDocumented }) => !isDocumented);
    const list = bare.map(({ at, name }) => `  ${relative(root, at)}: ${name}`).join('\n');
    const most = Math.floor(CEILINGS[kind] * each.length);
    const share = ((100 * (each.length - bare.length)) / each.length).toFixed(1);
    process.stdout.write(
      `\nfigures: doc comments: ${each.length - bare.length} of ${each.length} ${kind}s (${share} %), ${bare.length} lack one, at most ${most}\n`,
    );
    if (process.env['LONGHAUL_LIST'] !== undefined) process.stdout.write(`${list}\n`);
    expect(bare.length, `${bare.length} ${kind}s lack a doc comment\n${list}`).toBeLessThanOrEqual(most);
  });
});

describe('the test of doc comments', () => {
  const SOURCES: Readonly<Record<string, string>> = {
    'a/index.ts': `/** Not of an export. */\n\nexport { one, two as second } from './more.ts';\nexport type { Shape } from './more.ts';\n/** Here. */\nexport const here = 1;\n`,
    'a/more.ts': `/** One. */\nexport function one() {}\nconst two = 2;\nexport { two };\n/** A shape. */\nexport interface Shape {\n  /** Documented. */\n  a: number;\n  b(): void;\n  b(c: number): void;\n}\nexport class Hidden { a = 1; }\n`,
    'a/class.ts': `export class Box {\n  #secret = 1;\n  private old = 1;\n  constructor() {}\n  /** Opens it. */\n  open() {}\n  size = 2; // not a doc comment\n}\nexport type Either = { a: 1 } | { b: 2 };\n`,
  };
  const found = (path: string) =>
    documentedOf(path, (each) => SOURCES[each] ?? '').map(
      ({ name, isDocumented }) => `${name} ${isDocumented ? 'yes' : 'no'}`,
    );

  it('follows re-exports to the declaration, and checks its members', () => {
    expect(found('a/index.ts')).toEqual(['one yes', 'second no', 'Shape yes', 'Shape.a yes', 'Shape.b no', 'here yes']);
  });

  it('ignores what no caller sees', () => {
    expect(found('a/class.ts')).toEqual([
      'Box no',
      'Box.open yes',
      'Box.size no',
      'Either no',
      'Either.a no',
      'Either.b no',
    ]);
  });
});
