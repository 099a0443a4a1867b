/**
 * `npm run chaos`: injects faults into a store, a node, workers and producers, and checks that nothing is lost, done twice or
 * stuck. The seed decides which faults occur and when.
 *
 *   npm run chaos -- --minutes 30            how long faults are injected (default: 1; fractions are allowed)
 *   npm run chaos -- --store redis           the store: sqlite (default) or redis
 *   npm run chaos -- --seed 7                repeats the faults of a run (default: a new seed)
 *   npm run chaos -- --faults a,b            only these kinds of faults
 *   npm run chaos -- --every 400             mean time between two faults, in ms (default: 1000)
 *   npm run chaos -- --report chaos.md       writes a report in Markdown, and after a finding the ledgers beside it
 *   npm run chaos -- --keep                  with --report: keeps the ledgers without a finding too
 *   npm run chaos -- --list                  lists the kinds of faults and what they need
 *   npm run chaos -- --mutants               checks the harness: which of ten seeded bugs it finds, five minutes each
 *   npm run chaos -- --mutants --only token  only those whose name contains the word
 *
 * Faults that need root, a C compiler or the other store are left out, with a printed reason.
 * Exit codes: 0 no finding, 1 findings or a run that failed, 2 bad usage or environment.
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleProgram } from './bundle-fixtures.mjs';
import { findRedis } from './find-redis.mjs';
import { cacheFolder, dropExtraCertificates, main, root, run, UserError } from './script-support.mjs';
import { setUp } from './setup.mjs';
import { parseOptions, usageError } from './usage.mjs';

await main(import.meta.url, async (args) => {
  const plan = planOf(args);
  await setUp({ allowTypeErrors: true });
  dropExtraCertificates();
  if (plan.mutants) {
    // Imported here, because this script is loaded before packages are installed.
    const { findMutants } = await import('./mutants/chaos-mutants.mjs');
    return findMutants({ ...plan, env: await redisEnvironment() });
  }
  const env = plan.store === 'redis' ? await redisEnvironment() : {};
  const folder = mkdtempSync(join(cacheFolder, 'chaos.'));
  try {
    await bundleProgram(join(root, 'test/chaos/main.ts'), folder);
    const program = join(folder, 'main.mjs');
    const { code } = await run(process.execPath, [program, JSON.stringify(plan)], { show: true, env });
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function planOf(args) {
  const { values } = parseOptions(import.meta.url, {
    args,
    options: {
      minutes: { type: 'string', default: '1' },
      store: { type: 'string', default: 'sqlite' },
      seed: { type: 'string' },
      faults: { type: 'string' },
      every: { type: 'string', default: '1000' },
      report: { type: 'string' },
      keep: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      mutants: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
    },
    choices: { store: ['sqlite', 'redis'] },
    numbers: ['minutes', 'seed', 'every'],
  });
  const { store, faults, report, keep, list, mutants, only } = values;
  const seed = Number(values.seed ?? randomInt(1, 2 ** 31));
  if (!Number.isSafeInteger(seed))
    throw usageError(import.meta.url, `--seed must be a whole number, not ${String(values.seed)}.`);
  return {
    root,
    store,
    seed,
    minutes: Number(values.minutes),
    everyMs: Number(values.every),
    faults: faults === undefined ? null : faults.split(','),
    report: report === undefined ? null : resolve(report),
    keep,
    list,
    mutants,
    only,
  };
}

async function redisEnvironment() {
  const redis = await findRedis();
  if (!redis || !existsSync(redis.path))
    throw new UserError('--store redis needs a Redis server (see above).', { exitCode: 2 });
  return { LONGHAUL_REDIS_SERVER: redis.path, ...redis.env };
}
