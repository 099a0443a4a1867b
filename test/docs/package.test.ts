/** The packed package, unpacked elsewhere, works as a library and as a command. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
let folder = '';
const unpacked = () => join(folder, 'node_modules/longhaul');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-package-'));
  mkdirSync(unpacked(), { recursive: true });
  // Without prepack: dist/ is up to date, and other suites use it.
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  await run('tar', ['-xzf', join(folder, tarball), '-C', unpacked(), '--strip-components=1']);
  symlinkSync(join(root, 'node_modules'), join(unpacked(), 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = `import { connect } from 'longhaul';
  const longhaul = await connect('./home');
  const doubles = longhaul.queue('doubles');
  doubles.work(({ data }) => data * 2);
  console.log(await (await doubles.add(21)).finished());
  await longhaul.close();`;

test('The package runs a job.', async () => {
  writeFileSync(join(folder, 'program.js'), program);
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, timeout: 30_000 });
  expect(stdout).toBe('42\n');
});

test('A program that bundles the package is refused with the remedy, and works with the package left out.', async () => {
  writeFileSync(join(folder, 'program.js'), program);
  const bundleTo = async (file: string, external: string[]): Promise<void> => {
    const bundle = await rolldown({
      input: join(folder, 'program.js'),
      platform: 'node',
      external: [/^@/, 'pino', ...external],
      logLevel: 'silent',
    });
    await bundle.write({ file: join(folder, file), format: 'esm', codeSplitting: false });
    await bundle.close();
  };
  await bundleTo('bundled.js', []);
  const error = await run(process.execPath, ['bundled.js'], { cwd: folder }).catch((failed: unknown) => failed);
  expect(error).toMatchObject({ stderr: expect.stringContaining('longhaul cannot run inside a bundle') });
  expect(error).toMatchObject({ stderr: expect.stringContaining('--external:longhaul') });
  await bundleTo('outside.js', ['longhaul']);
  expect((await run(process.execPath, ['outside.js'], { cwd: folder, timeout: 30_000 })).stdout).toBe('42\n');
});

test('The package has at most 1 MB, without source maps and inner declarations.', async () => {
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  expect(statSync(join(folder, tarball)).size).toBeLessThanOrEqual(1_000_000);
  const names = readdirSync(join(unpacked(), 'dist'), { recursive: true }).map(String);
  expect(names.filter((name) => name.endsWith('.map'))).toEqual([]);
  expect(names).toContain('library/index.d.ts');
  expect(names.filter((name) => /^(cli|server|node)\/.*\.d\.ts$/.test(name))).toEqual([]);
});

/** Paths of other Node programs, separated by colons: the full test run needs one of each supported version. */
const otherNodes = (process.env['LONGHAUL_TEST_NODES'] ?? '').split(':').filter((path) => path !== '');

test.runIf(otherNodes.length > 0).each(otherNodes)('The package runs jobs with %s.', async (node) => {
  writeFileSync(join(folder, 'program.js'), program);
  const { stdout: version } = await run(node, ['--version']);
  expect((await run(node, ['program.js'], { cwd: folder, timeout: 30_000 })).stdout).toBe('42\n');
  const home = join(folder, `home-${version.trim()}`);
  const cli = join(unpacked(), 'dist/cli/main.js');
  mkdirSync(join(home, 'queues'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'queues/quick'), '#!/bin/sh\necho quick\n', { mode: 0o700 });
  const serving = execFile(node, [cli, 'serve', '--home', home, '--port', '0']);
  try {
    const ask = (...line: string[]) => run(node, [cli, ...line, '--home', home], { timeout: 30_000 });
    await expect.poll(() => ask('add', 'quick', '--id', 'one').then(({ stdout }) => stdout, String)).toBe('one\n');
    expect((await ask('logs', '-f', 'one')).stdout).toBe('quick\n');
    expect((await ask('show', 'one', '--json')).stdout).toContain('"state": "done"');
  } finally {
    serving.kill('SIGTERM');
    await new Promise((resolve) => serving.once('exit', resolve));
  }
});

test('The package contains the command, and no sources or tests.', async () => {
  const { stdout } = await run(process.execPath, [join(unpacked(), 'dist/cli/main.js'), '--help'], { cwd: folder });
  expect(stdout).toContain('longhaul');
  expect(readdirSync(unpacked()).sort()).toEqual(
    ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'dist', 'node_modules', 'package.json'].sort(),
  );
});
