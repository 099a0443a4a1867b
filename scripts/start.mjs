/**
 * `npm start`: makes things ready, then runs Longhaul. Arguments and signals go to the program, its exit code comes back.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { main, root, run, Trouble } from './house.mjs';
import { setUp } from './setup.mjs';

const programs = ['dist/demo/main.js'];

await main(import.meta.url, async (args) => {
  await setUp();
  const program = programs.map((path) => join(root, path)).find((path) => existsSync(path));
  if (!program)
    throw new Trouble(`There is nothing to start: neither ${programs.join(' nor ')} exists.`, { exitCode: 2 });
  const { code } = await run(process.execPath, ['--enable-source-maps', program, ...args], { show: true });
  return code;
});
