/** The packed package, unpacked elsewhere, works as a library and as a command. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

test('The package runs a job.', async () => {
  const program = `import { connect } from 'longhaul';
    const longhaul = await connect('./home');
    const doubles = longhaul.queue('doubles');
    doubles.work(({ data }) => data * 2);
    console.log(await (await doubles.add(21)).finished());
    await longhaul.close();`;
  writeFileSync(join(folder, 'program.js'), program);
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, timeout: 30_000 });
  expect(stdout).toBe('42\n');
});

test('The package contains the command, and no sources or tests.', async () => {
  const { stdout } = await run(process.execPath, [join(unpacked(), 'dist/cli/main.js'), '--help'], { cwd: folder });
  expect(stdout).toContain('longhaul');
  expect(readdirSync(unpacked()).sort()).toEqual(
    ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'node_modules', 'package.json'].sort(),
  );
});
