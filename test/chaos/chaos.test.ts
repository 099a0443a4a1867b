/**
 * A short chaos run on each store, as a part of `npm test`: seconds instead of the minutes of `npm run chaos`, with the same
 * processes, faults and checks. The seed is fixed at the small size, so that a failure is a change of the code.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { printFigures, printSeed } from '../faults/fault-environment.ts';
import { openRandom } from '../faults/seeded-random.ts';
import { hasRedis } from '../support/redis-server.ts';
import { isFullSize, testSize } from '../support/test-size.ts';
import { checkAll } from './checks/check-all.ts';
import { type StoreName, whyNot } from './environment.ts';
import { FAULT_KINDS } from './faults/fault-kinds.ts';
import { figuresOf } from './report.ts';
import { runChaos } from './run-chaos.ts';

const root = join(import.meta.dirname, '../..');
const FAULTS_MS = testSize({ small: 3_000, full: 120_000 });
const EVERY_MS = testSize({ small: 250, full: 700 });
/** In `npm test` a run that takes longer fails. */
const RUN_MS = testSize({ small: 40_000, full: FAULTS_MS + 400_000 });
const SEED = 25;

async function expectNoFinding(store: StoreName, { onTestFinished, signal }: TestContext): Promise<void> {
  const random = isFullSize ? openRandom() : openRandom(SEED);
  const { seed } = random;
  printSeed(`chaos, ${store}`, random);
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-chaos-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  const abilities = { store, hasSmallDisk: false };
  const run = await runChaos({
    root,
    folder,
    store,
    seed,
    durationMs: FAULTS_MS,
    everyMs: EVERY_MS,
    kinds: FAULT_KINDS.filter(({ needs }) => needs.every((need) => whyNot(need, abilities) === null)),
    signal,
    print: () => undefined,
  });
  const figures = figuresOf(run);
  printFigures(`chaos, ${store}`, { seed, ...figures });
  expect(checkAll(run.evidence)).toEqual([]);
  // Without them the run proves nothing.
  const happened = [figures['jobs'], figures['attempts after the first'], figures['runs of steps'], figures['faults']];
  expect(Math.min(...happened.map((count) => count ?? 0))).toBeGreaterThan(0);
}

describe('a short chaos run', () => {
  // At the same time: both wait most of the time.
  const options = { concurrent: true, timeout: RUN_MS };
  it('has no finding on SQLite', options, (context) => expectNoFinding('sqlite', context));
  it.skipIf(!hasRedis)('has no finding on Redis', options, (context) => expectNoFinding('redis', context));
});

describe('npm run chaos', () => {
  const chaos = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(root, 'scripts/chaos.mjs'), ...args], { encoding: 'utf8' });

  it('explains itself', () => {
    const { status, stdout } = chaos('--help');
    expect([status, stdout]).toEqual([0, expect.stringContaining('npm run chaos -- --minutes 30')]);
  });

  it.each([['--store', 'postgres'], ['--minutes', 'many'], ['--seed', '1.5'], ['--often']])(
    'refuses %s %s',
    (...args) => {
      const { status, stderr } = chaos(...args.filter((arg) => arg !== undefined));
      expect([status, stderr]).toEqual([2, expect.stringContaining(args[0] ?? '')]);
    },
  );
});
