/** Runs the shell example of the README beside a running node. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

test('A script becomes a queue, its job is added and followed, and a command runs to its end.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-shell-'));
  writeFileSync(join(folder, 'longhaul'), `#!/bin/sh\nexec "${process.execPath}" "${root}/dist/cli/main.js" "$@"\n`, {
    mode: 0o755,
  });
  const bin = join(folder, 'bin');
  await run('sh', ['-c', `mkdir "${bin}" && mv "${folder}/longhaul" "${bin}/longhaul"`]);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}`, LONGHAUL_PORT: '0' };
  const node = spawn('longhaul', ['serve'], { cwd: folder, env, stdio: 'ignore' });
  onTestFinished(async () => {
    node.kill('SIGTERM');
    while (node.exitCode === null && node.signalCode === null) await sleep(20);
    rmSync(folder, { recursive: true, force: true });
  });
  while (!existsSync(join(folder, 'longhaul/node.sock'))) await sleep(50);
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, example = ''] = /<!-- example: script -->\n```sh\n([\s\S]*?)```/.exec(readme) ?? [];
  const { stdout } = await run('bash', ['-euc', example], { cwd: folder, env, timeout: 60_000 });
  expect(stdout).toContain('first\n');
  expect(stdout).toContain('made thumbnails of {"film":"a.mov"}');
  expect(stdout).toContain('packed\n');
});
