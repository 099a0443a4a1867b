/** The files of deploy/ and .github/ name only commands, options, variables and scripts that exist. No image is built. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findCommand } from '../../src/cli/table/command-table.ts';
import { hasProgram } from '../processes/runner-workbench.ts';

const root = join(import.meta.dirname, '../..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const FILES = ['deploy/Dockerfile', 'deploy/compose.yaml', 'deploy/longhaul.service'];
/** Variables that every command reads, beside one for each option of serve. */
const VARIABLES = new Set(['LONGHAUL_HOME', 'LONGHAUL_STORE', 'LONGHAUL_TOKEN']);

/** Returns the command lines of longhaul in a file: lists of JSON, and lines of a shell. */
function commandLines(text: string): string[][] {
  const lists = [...text.matchAll(/\["longhaul", (.*)\]/g)].map(([, rest]) => JSON.parse(`[${rest}]`) as string[]);
  const lines = [...text.matchAll(/longhaul ((?:serve|token|drain) .*)$/gm)].map(([, rest = '']) => rest.split(' '));
  return [...lists, ...lines];
}

test.each(FILES)('%s names commands, options and variables that exist.', (path) => {
  const text = textOf(path);
  const found = commandLines(text);
  expect(found.length).toBeGreaterThan(0);
  for (const [name = '', ...rest] of found) {
    const command = findCommand(name);
    expect(command?.name).toBe(name);
    for (const option of rest.filter((word) => word.startsWith('--')))
      expect(Object.keys(command?.options ?? {})).toContain(option.slice(2));
  }
  const ofServe = Object.keys(findCommand('serve')?.options ?? {}).map(
    (name) => `LONGHAUL_${name.toUpperCase().replaceAll('-', '_')}`,
  );
  for (const [variable] of text.matchAll(/LONGHAUL_[A-Z_]+/g)) expect([...VARIABLES, ...ofServe]).toContain(variable);
});

test('The image runs as a user without privileges under an init process, from two stages, with a health check.', () => {
  const text = textOf('deploy/Dockerfile');
  const instructions = text.split('\n').filter((line) => /^[A-Z]+ /.test(line));
  const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM')));
  expect(instructions.filter((line) => line.startsWith('FROM'))).toHaveLength(2);
  expect(last).toContain('USER node');
  expect(last).toContain('ENTRYPOINT ["tini", "--"]');
  const [, check = ''] = /CMD (\["node", .*\])$/m.exec(text) ?? [];
  expect((JSON.parse(check) as string[])[2]).toContain('/healthz');
});

test('The unit is the one of the documentation, and systemd accepts it.', async () => {
  const unit = textOf('deploy/longhaul.service');
  const [, documented = ''] = /```ini\n([\s\S]*?)```/.exec(textOf('docs/deploying.md')) ?? [];
  expect(unit.replace(/^#.*\n/, '')).toBe(documented);
  if (!hasProgram('systemd-analyze')) return;
  const verified = await promisify(execFile)('systemd-analyze', [
    'verify',
    join(root, 'deploy/longhaul.service'),
  ]).catch((error: { stderr: string }) => error);
  // The user and the program need not exist here; everything else must be valid.
  const problems = verified.stderr.split('\n').filter((line) => /longhaul\.service/.test(line));
  expect(problems.filter((line) => !/not executable|Failed to resolve|[Uu]ser/.test(line))).toEqual([]);
});

test('The workflows test every supported Node and server, run scripts of the package, and publish with provenance.', () => {
  const { scripts, engines } = JSON.parse(textOf('package.json')) as Record<string, Record<string, string>>;
  const [ci, release] = [textOf('.github/workflows/ci.yml'), textOf('.github/workflows/release.yml')];
  expect(ci).toContain('node: [20, 22, 24]');
  expect(engines?.['node']).toBe('>=20.19');
  for (const image of ['redis:7', 'redis:8', 'valkey/valkey:8']) expect(ci).toContain(`image: '${image}'`);
  for (const [, name = ''] of `${ci}${release}`.matchAll(/npm run (\S+)/g)) expect(scripts).toHaveProperty(name);
  expect(release).toContain('npm publish --provenance');
  expect(release).toContain('id-token: write');
});
