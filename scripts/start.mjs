/**
 * `npm start`: prepares the repository, then runs `longhaul serve` on ./longhaul or LONGHAUL_HOME. Passes on arguments
 * (including --help) and signals, and exits with its exit code.
 */
import { join } from 'node:path';
import { main, root, run } from './script-support.mjs';
import { setUp } from './setup.mjs';

const program = join(root, 'dist/cli/main.js');

await main(
  import.meta.url,
  async (args) => {
    await setUp();
    // A developer reads the log even through a pipe, where `longhaul serve` itself would write JSON.
    const env = { LONGHAUL_LOG_FORMAT: process.env.LONGHAUL_LOG_FORMAT ?? 'pretty' };
    const { code } = await run(process.execPath, ['--enable-source-maps', program, 'serve', ...args], {
      show: true,
      env,
    });
    return code;
  },
  { hasHelp: false },
);
