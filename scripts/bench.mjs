/**
 * `npm run bench [-- name …]`: compiles bench/ with src/ into build/ and runs bench/<name>.ts there (default: main).
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyAssets } from './copy-assets.mjs';
import { findRedis } from './find-redis.mjs';
import { bin, main, root, run, Trouble } from './house.mjs';
import { setUp } from './setup.mjs';

const outDir = join(root, 'build');

await main(import.meta.url, async ([name = 'main', ...args]) => {
  if (!existsSync(join(root, 'bench', `${name}.ts`)))
    throw new Trouble(`There is no bench/${name}.ts.`, { exitCode: 2 });
  await setUp({ allowTypeErrors: true });
  rmSync(outDir, { recursive: true, force: true });
  const { code, output } = await run(bin('tsc'), ['-p', 'tsconfig.bench.json', '--outDir', outDir]);
  if (code !== 0) throw new Trouble('The benchmarks have type errors (above).', { output });
  copyAssets(join(root, 'src'), join(outDir, 'src'));
  const redis = await findRedis();
  const program = join(outDir, 'bench', `${name}.js`);
  const env = redis ? { LONGHAUL_REDIS_SERVER: redis.path, ...redis.env } : {};
  return (await run(process.execPath, ['--enable-source-maps', program, ...args], { show: true, env })).code;
});
