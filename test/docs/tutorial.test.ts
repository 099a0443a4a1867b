/**
 * README and tutorial, followed in an empty folder with the packed package: own jobs are watched, the node and the worker
 * are killed under them, and they finish. Only the path of the package, the port and the pauses are replaced.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { openShell } from '../support/shell-session.ts';
import { isFullSize, testSize } from '../support/test-size.ts';
import { root } from './markdown.ts';

const run = promisify(execFile);
const page = readFileSync(join(root, 'docs/getting-started.md'), 'utf8');
/** Seconds of a pause of the script: the small size does not wait a minute for a film. */
const pause = testSize({ small: '0.1', full: '1' });

/** Returns the steps of the page by name, in order. */
function stepsOf(text: string): ReadonlyMap<string, string> {
  const blocks = [...text.matchAll(/<!-- step: (.+) -->\n```sh\n([\s\S]*?)```/g)];
  return new Map(blocks.map(([, name = '', block = '']) => [name, block]));
}

test('A new user installs the package, kills node and worker under long jobs, and sees them finish.', {
  timeout: 300_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-tutorial-'));
  const packed = mkdtempSync(join(tmpdir(), 'longhaul-packed-'));
  onTestFinished(() => [folder, packed].forEach((each) => rmSync(each, { recursive: true, force: true })));
  // Without prepack: dist/ is up to date, and other suites use it.
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], { cwd: root });
  const text = page
    .replaceAll('/path/to/longhaul-0.1.0.tgz', join(packed, readdirSync(packed)[0] ?? ''))
    .replaceAll('sleep 1\n', `sleep ${pause}\n`);
  for (const [, name = '', content = ''] of text.matchAll(/<!-- file: (\S+) -->\n```js\n([\s\S]*?)```/g))
    writeFileSync(join(folder, name), content);

  // With the user's own settings and cache of npm.
  const env = { HOME: homedir(), LONGHAUL_PORT: '0', npm_config_prefer_offline: 'true' };
  const shell = await openShell({ cwd: folder, env });
  onTestFinished(() => shell.close());
  const outputs: Record<string, string> = {};
  for (const [name, step] of stepsOf(text)) {
    if (!isFullSize && name === 'handler') break;
    outputs[name] = await shell.run(step);
  }
  const [before, after] = [...(outputs['kill'] ?? '').matchAll(/^part (\d+)/gm)].map(([, part]) => part);
  // The script went on without a node. On a slow machine it may have printed its last part before.
  expect(Number(after)).toBeGreaterThan(Math.min(Number(before), 59));
  expect(outputs['restart']).toContain('part 60 of Metropolis');
  const log = await shell.run('cat longhaul/jobs/film-1/attempts/1/log; ls longhaul/jobs/film-1/attempts');
  expect(new Set(log.match(/process \d+/g)).size).toBe(1);
  expect(log.match(/^part \d+ /gm)).toHaveLength(60);
  expect(log).toMatch(/\n1\n-- step/);
  if (!isFullSize) return;
  const [, row = '0'] = /^row (\d+), process/m.exec(outputs['second worker'] ?? '') ?? [];
  expect(Number(row)).toBeGreaterThan(4);
  expect(outputs['second worker']).toMatch(/attempt 2, crashes 1/);
  expect([...stepsOf(text).keys()]).toEqual(Object.keys(outputs));
});
