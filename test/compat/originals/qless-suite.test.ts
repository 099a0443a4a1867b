/**
 * The test suites of qless-core and reqless-core themselves, from checkouts outside of this repository:
 *
 *     QLESS_CORE_CHECKOUT=… REQLESS_CORE_CHECKOUT=… npx vitest run --project compat test/compat/originals
 *
 * Their calls go to Longhaul's layer on a real Redis (test/fixtures/qless_suite.py). Every test must pass, except those that
 * docs/migrating-from-qless.md lists with a reason.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasRedis, startRedis } from '../../support/redis-server.ts';
import { pathOf } from './checkout.ts';

interface Outcome {
  readonly test: string;
  readonly outcome: 'passed' | 'failed';
  readonly reason: string;
}

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/migrating-from-qless.md'), 'utf8');
const SUITE_MS = 900_000;

/** The tests in the rows of the page's table of this suite. */
function listed(suite: string): readonly string[] {
  const [, after = ''] = page.split(`### Tests of ${suite} that fail\n`);
  const [table = ''] = after.split('\n#');
  return [...table.matchAll(/^\| `(test_[\w.]+)` \|/gm)].map((found) => found[1] ?? '');
}

async function outcomesOf(checkout: string, url: string): Promise<readonly Outcome[]> {
  const fixtures = join(root, 'test/fixtures');
  const args = [join(fixtures, 'qless_suite.py'), checkout, process.execPath, join(fixtures, 'qless-bridge.mjs'), url];
  const { stdout } = await promisify(execFile)('python3', args, { timeout: SUITE_MS, maxBuffer: 64 * 1024 * 1024 });
  const lines = stdout.trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Outcome);
}

const suites = [
  { suite: 'qless-core', variable: 'QLESS_CORE_CHECKOUT', system: 'seomoz/qless-core', tests: 243 },
  { suite: 'reqless-core', variable: 'REQLESS_CORE_CHECKOUT', system: 'tdg5/reqless-core', tests: 303 },
];

for (const { suite, variable, system, tests } of suites) {
  const checkout = pathOf({ variable, system, needs: ['test/common.py', 'test/test_queue.py'] });
  test.skipIf(checkout === null || !hasRedis)(
    `The suite of ${suite} passes, except for the tests that the page lists.`,
    async () => {
      const redis = await startRedis();
      try {
        const outcomes = await outcomesOf(checkout ?? '', redis.url);
        const failed = outcomes.filter(({ outcome }) => outcome === 'failed');
        process.stdout.write(`${suite}: ${outcomes.length - failed.length} of ${outcomes.length} passed\n`);
        for (const each of failed) process.stdout.write(`  ${each.test}: ${each.reason}\n`);
        expect(outcomes).toHaveLength(tests);
        expect(failed.map((each) => each.test).toSorted()).toEqual(listed(suite).toSorted());
      } finally {
        await redis.stop();
      }
    },
    SUITE_MS,
  );
}
