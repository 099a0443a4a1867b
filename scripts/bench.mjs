/**
 * `npm run bench [-- name …]`: runs bench/<name> (default: main), with the path of a Redis server in the environment.
 *
 * A .mjs file runs as it is, on dist/. A .ts file is compiled together with src/ into build/ and runs there.
 */
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { copyAssets } from './copy-assets.mjs';
import { findRedis } from './find-redis.mjs';
import { bin, main, root, run, Trouble } from './house.mjs';
import { setUp } from './setup.mjs';

const source = join(root, 'bench');
const outDir = join(root, 'build');

await main(import.meta.url, async ([name = 'main', ...args]) => {
  const isScript = existsSync(join(source, `${name}.mjs`));
  if (!isScript && !existsSync(join(source, `${name}.ts`))) {
    throw new Trouble(`There is no bench/${name}.mjs or bench/${name}.ts.`, { exitCode: 2 });
  }
  await setUp();
  const program = isScript ? join(source, `${name}.mjs`) : await compile(name);
  const redis = await findRedis();
  const env = redis ? { LONGHAUL_REDIS_SERVER: redis.path, ...redis.env } : {};
  return (await run(process.execPath, ['--enable-source-maps', program, ...args], { show: true, env })).code;
});

async function compile(name) {
  rmSync(outDir, { recursive: true, force: true });
  const { code, output } = await run(bin('tsc'), ['-p', 'tsconfig.bench.json', '--outDir', outDir]);
  if (code !== 0) throw new Trouble('The benchmarks have type errors (above).', { output });
  copyAssets(join(root, 'src'), join(outDir, 'src'));
  // The packages that Longhaul is measured against are installed in bench/ alone.
  if (existsSync(join(source, 'node_modules')))
    symlinkSync(join(source, 'node_modules'), join(outDir, 'bench', 'node_modules'));
  return join(outDir, 'bench', `${name}.js`);
}
