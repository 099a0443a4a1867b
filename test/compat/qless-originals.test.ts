/**
 * Runs the test suites of qless-core and reqless-core themselves, from checkouts outside of this repository:
 *
 *     QLESS_CORE=… REQLESS_CORE=… npx vitest run --project compat test/compat/qless-originals.test.ts
 *
 * Their calls go to Longhaul's layer on a real Redis (test/fixtures/qless_suite.py). Every test must pass, except those that
 * docs/migrating-from-qless.md lists with a reason.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasRedis, startRedis } from '../support/redis-server.ts';

interface Outcome {
  readonly test: string;
  readonly outcome: 'passed' | 'failed';
  readonly reason: string;
}

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/migrating-from-qless.md'), 'utf8');
const SUITE_MS = 900_000;

/** Tests that the page lists as rows of the table of this suite. */
function listed(suite: string): readonly string[] {
  const [, table = ''] = page.split(`### Tests of ${suite} that fail`);
  const rows = table.split('\n#')[0] ?? '';
  return [...rows.matchAll(/^\| `([^`]+)`(?:, `([^`]+)`)* \|/gm)].flatMap(([row]) =>
    [...row.matchAll(/`(test_\w+\.\w+\.\w+)`/g)].map((found) => found[1] ?? ''),
  );
}

async function outcomesOf(checkout: string, url: string): Promise<readonly Outcome[]> {
  const fixtures = join(root, 'test/fixtures');
  const args = [join(fixtures, 'qless_suite.py'), checkout, process.execPath, join(fixtures, 'qless-bridge.mjs'), url];
  const { stdout } = await promisify(execFile)('python3', args, { timeout: SUITE_MS, maxBuffer: 64 * 1024 * 1024 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Outcome);
}

const suites = [
  { suite: 'qless-core', variable: 'QLESS_CORE', tests: 243 },
  { suite: 'reqless-core', variable: 'REQLESS_CORE', tests: 303 },
];

for (const { suite, variable, tests } of suites) {
  const checkout = process.env[variable];
  const why = checkout === undefined ? `${variable} names no checkout of ${suite}` : 'there is no Redis server';
  const isSkipped = checkout === undefined || !hasRedis;
  if (isSkipped) process.stdout.write(`The suite of ${suite} is skipped: ${why}.\n`);
  test.skipIf(isSkipped)(
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
