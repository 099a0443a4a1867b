/**
 * Global setup: builds dist/ from src/, because threads and processes load their code from there. `LONGHAUL_DIST=as-is`
 * skips the build, for suites that load nothing from it.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const scripts = join(import.meta.dirname, '..', '..', 'scripts');

export function setup(): void {
  if (process.env['LONGHAUL_DIST'] === 'as-is') return;
  const { status, stderr } = runScript('build.mjs');
  // The tests report errors better than the compiler does; `npm run check` fails on compile errors.
  if (status !== 0) process.stderr.write(`dist/ was built with errors:\n${stderr}\n`);
  const fixtures = runScript('bundle-fixtures.mjs');
  if (fixtures.status === 0) process.env['LONGHAUL_FIXTURES'] = fixtures.stdout.trim();
  else process.stderr.write(`The fixtures start from their many files:\n${fixtures.stderr}\n`);
}

function runScript(name: string) {
  return spawnSync(process.execPath, [join(scripts, name)], { encoding: 'utf8' });
}
