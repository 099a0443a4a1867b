/**
 * `npm start`: makes things ready, then runs `longhaul serve` on ./longhaul, or on what LONGHAUL_HOME names. Arguments
 * and signals go to it (also --help), its exit code comes back.
 */
import { join } from 'node:path';
import { main, root, run } from './script-support.mjs';
import { setUp } from './setup.mjs';

const program = join(root, 'dist/cli/main.js');

await main(
  import.meta.url,
  async (args) => {
    await setUp();
    // Somebody looks at it, also through a pipe; `longhaul serve` itself writes JSON there.
    const env = { LONGHAUL_LOG_FORMAT: process.env.LONGHAUL_LOG_FORMAT ?? 'pretty' };
    const { code } = await run(process.execPath, ['--enable-source-maps', program, 'serve', ...args], {
      show: true,
      env,
    });
    return code;
  },
  { hasHelp: false },
);
