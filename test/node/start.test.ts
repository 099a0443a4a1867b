/** `npm start`, as on a fresh clone that is installed: the web UI answers, and the printed way to stop it works. */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../processes/runner-workbench.ts';
import { spawnGuarded } from '../support/guarded-process.ts';
import { aNewHome, endNodeOf, get } from './serve-bench.ts';

const root = join(import.meta.dirname, '../..');

test('npm start serves its own data directory within two minutes, and exits with 0 when stopped.', async () => {
  const bench = aNewHome();
  const env = { ...process.env, LONGHAUL_HOME: bench.home, LONGHAUL_PORT: '0' };
  const started = await spawnGuarded('npm', ['start'], { cwd: root, env });
  const lines: string[] = [];
  createInterface({ input: started.stdout }).on('line', (line) => lines.push(line));
  started.stderr.resume();
  onTestFinished(async () => {
    started.signal('SIGKILL');
    endNodeOf(bench.home);
    await started.ended;
  });
  const isPrinted = (text: string) => lines.some((line) => line.includes(text));
  await eventually(
    () => ({ lines, isAlive: started.isAlive }),
    (seen) => isPrinted('or open http') || !seen.isAlive,
    120_000,
  );
  const url =
    lines
      .find((line) => line.includes('web UI and API'))
      ?.trim()
      .split(/\s+/)
      .at(-1) ?? '';
  expect(await get(url, '/healthz')).toMatchObject({ status: 200 });
  expect(lines).toContain(`longhaul serves ${bench.home}`);
  started.signal('SIGTERM');
  expect((await started.ended).code).toBe(0);
}, 150_000);
