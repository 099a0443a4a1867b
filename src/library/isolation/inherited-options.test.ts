import { expect, test } from 'vitest';
import { inheritedOptions } from './inherited-options.ts';

test('Loaders and limits are inherited; program texts, debuggers and watch modes are not.', () => {
  expect(
    inheritedOptions([
      '--import',
      'tsx',
      '--inspect-brk=9229',
      '--max-old-space-size=512',
      '-e',
      '--import',
      '--watch-path=src',
      '--conditions=development',
    ]),
  ).toEqual(['--import', 'tsx', '--max-old-space-size=512', '--conditions=development']);
});
