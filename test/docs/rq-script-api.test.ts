/** The lines of RQ's script API that are kept, and the tests that are named after them, are the same. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('Every line of RQ’s script API that is kept has a test of the same words, and no test is without its line.', () => {
  const kept = read('docs/decisions/0007-rq-script-api.md').split('## Ours differs')[0] ?? '';
  const lines = [...kept.matchAll(/^\| (?:start|environment|verbs|exit) \| (.+) \|$/gm)].map(([, line]) => line);
  const titles = [...read('test/processes/scripts-rq-api.test.ts').matchAll(/^ {2}it\((['"])(.+)\1, async/gm)];
  expect(lines.length).toBeGreaterThan(15);
  expect(titles.map(([, , title]) => title)).toEqual(lines);
});
