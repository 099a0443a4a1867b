/** Holds folders to a size that can be read as a list: a folder that has more files than that is a feature too many. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

const MOST_FILES = 25;

/** How many sources stand directly in each folder of src and web, without the tests beside them. */
function sizes(): ReadonlyMap<string, number> {
  const paths = ['src', 'web/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  );
  const sources = paths.filter((path) => /\.(?:tsx?|lua|sql|sh|css)$/.test(path) && !/\.test\.tsx?$/.test(path));
  const counts = new Map<string, number>();
  for (const path of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return counts;
}

it(`No folder has more than ${MOST_FILES} source files.`, () => {
  const counts = sizes();
  const large = [...counts].filter(([, count]) => count > MOST_FILES).sort(([, a], [, b]) => b - a);
  const list = large.map(([folder, count]) => `${folder} ${count}`).join(', ');
  process.stdout.write(
    `\nfigures: folders: ${counts.size}, of which ${large.length} over ${MOST_FILES} files: ${list}\n`,
  );
  expect(large).toEqual([]);
});
