/** The supported lines of RQ's script API equal the titles of their tests. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('Every supported line of RQ’s script API has a test of the same title, and every test has a line.', () => {
  const kept = read('docs/decisions/0007-rq-script-api.md').split('## Ours differs')[0] ?? '';
  const lines = [...kept.matchAll(/^\| (?:start|environment|verbs|exit) \| (.+) \|$/gm)].map(([, line]) => line);
  const titles = [...read('test/processes/scripts-rq-api.test.ts').matchAll(/^ {2}it\((['"])(.+)\1, async/gm)];
  expect(lines.length).toBeGreaterThan(15);
  expect(titles.map(([, , title]) => title)).toEqual(lines);
});
