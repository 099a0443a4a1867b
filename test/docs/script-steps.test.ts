/** The example of steps in docs/scripts.md is the script that test/processes/scripts-steps.test.ts runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

test('The script with steps that the page shows is executed by a test.', () => {
  const [, shown] = /<!-- example: script steps -->\n```sh\n([\s\S]*?)```/.exec(read('docs/scripts.md')) ?? [];
  expect(shown).toBe(read('test/fixtures/scripts/stages.sh'));
});
