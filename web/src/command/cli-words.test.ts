/** Unit tests of the commands that empty pages show. */
import { expect, it } from 'vitest';
import { cliText } from './cli-words.ts';

const URL_OF_PAGE = 'https://jobs.example/night/';

it('names the data directory for a user on the same machine', () => {
  const me = { hasNode: true, home: '/srv/my jobs' };
  expect(cliText(['add', 'mail', '{"a": 1}'], me, URL_OF_PAGE)).toBe(
    `longhaul add mail '{"a": 1}' --home '/srv/my jobs'`,
  );
});

it('names the URL of the page for other users', () => {
  expect(cliText(['add', 'mail'], { hasNode: true, home: null }, URL_OF_PAGE)).toBe(
    'longhaul add mail --store https://jobs.example/night/',
  );
});

it('names the node before the arguments of a command', () => {
  expect(cliText(['run', '--', 'ls', '-l'], { hasNode: true, home: '/srv' }, URL_OF_PAGE)).toBe(
    'longhaul run --home /srv -- ls -l',
  );
});

it('shows no command inside another application', () => {
  expect(cliText(['add', 'mail'], { hasNode: false, home: null }, URL_OF_PAGE)).toBeNull();
});
