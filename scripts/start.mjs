/**
 * `npm start`: makes things ready, then runs Longhaul. Arguments and signals go to the program, its exit code comes back.
 */
import { join } from 'node:path';
import { main, root, run } from './house.mjs';
import { setUp } from './setup.mjs';

const program = join(root, 'dist/demo/main.js');

await main(import.meta.url, async (args) => {
  await setUp();
  const { code } = await run(process.execPath, ['--enable-source-maps', program, ...args], { show: true });
  return code;
});
