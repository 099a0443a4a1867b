/** A test run that is killed leaves neither scripts nor files behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../processes/runner-workbench.ts';
import { GUARD, guardFolder } from './own-folder.ts';

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

/** A script that outlives its node, as the runner marks it. */
function startScript(folder: string): number {
  const env = { LONGHAUL_ATTEMPT_MARK: join(folder, 'home/jobs/1/attempts/1') };
  const script = spawn('sleep', ['600'], { env, stdio: 'ignore' });
  return script.pid ?? 0;
}

it('ends scripts and removes files when the run ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guarded-'));
  const other = mkdtempSync(join(tmpdir(), 'other-'));
  const [script, another] = [startScript(folder), startScript(other)];
  await guardFolder(folder)();
  await eventually(
    () => isAlive(script),
    (is) => !is,
    2_000,
  );
  expect({ folder: existsSync(folder), another: isAlive(another) }).toEqual({ folder: false, another: true });
  process.kill(another, 'SIGKILL');
});

it('does so as well when the run is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guarded-'));
  const script = startScript(folder);
  const source = `
    const [guard, folder] = process.argv.slice(1);
    const stdio = ['pipe', 'ignore', 'ignore'];
    require('node:child_process').spawn('sh', ['-c', guard, 'guard', folder], { detached: true, stdio });
    console.log('ready');
  `;
  const run = spawn(process.execPath, ['-e', source, GUARD, folder], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(run.stdout, 'data');
  run.kill('SIGKILL');
  await eventually(
    () => isAlive(script) || existsSync(folder),
    (is) => !is,
    5_000,
  );
  expect(isAlive(script)).toBe(false);
});
