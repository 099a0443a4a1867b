/** Reads the Markdown files of the repository for the tests of the documentation. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** A Markdown file; `lines` have their number, and whether they are inside a block of code. */
export interface Page {
  /** The path from the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly lines: readonly { readonly number: number; readonly text: string; readonly isCode: boolean }[];
}

const FOLDERS = ['.', 'docs', 'docs/decisions', 'examples', '.github', 'test', 'test/compat', 'test/web'];

/** Returns every Markdown file that readers open. */
export function readPages(): readonly Page[] {
  const examples = readdirSync(join(root, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `examples/${name}`);
  return [...FOLDERS, ...examples].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => readPage(folder === '.' ? name : `${folder}/${name}`)),
  );
}

function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8');
  let isFenced = false;
  const lines = text.split('\n').map((line, index) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isFenced = !isFenced;
    return { number: index + 1, text: line, isCode: isFenced || isFence || /^ {4}/.test(line) };
  });
  return { path, text, lines };
}

/** Returns the anchors of the headings of a page, as GitHub makes them. */
export function anchorsOf(page: Page): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { text, isCode } of page.lines) {
    const [, heading] = isCode ? [] : (/^#{1,6} (.+)$/.exec(text) ?? []);
    if (heading === undefined) continue;
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    found.add(slug);
  }
  return found;
}
