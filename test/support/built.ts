/** Before any suite: dist/ is what src/ says, since threads and processes load their code from there. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export function setup(): void {
  const script = join(import.meta.dirname, '..', '..', 'scripts', 'build.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  // The tests say what is broken better than the compiler does; `npm run check` fails on its errors.
  if (status !== 0) process.stderr.write(`dist/ was built with errors:\n${stderr}\n`);
}
