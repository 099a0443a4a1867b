/**
 * RQ's own test programs against a node. Needs a checkout of brightroll/rq; skipped with a printed reason without one:
 *
 *     RQ_CHECKOUT=~/rq npx vitest run --project compat rq-programs
 *
 * Programs that cannot pass are in docs/migrating-from-rq.md with the reason.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasRq, print, WHY_SKIPPED } from './real-rq.ts';
import { MORE_PROGRAMS, PROGRAMS, RqPrograms } from './rq-programs.ts';

const REQUIRED = 36;
/** Rows `| \`name\` | reason |` of the documentation. */
const page = readFileSync(join(import.meta.dirname, '../../docs/migrating-from-rq.md'), 'utf8');
const different = new Set([...page.matchAll(/^\| `(\w+\.(?:rb|sh))` \|/gm)].map((found) => found[1] ?? ''));

if (!hasRq) print(`RQ programs: ${WHY_SKIPPED}`);

describe.skipIf(!hasRq)("RQ's own programs", () => {
  let programs: RqPrograms;
  const passed = new Set<string>();
  beforeAll(async () => {
    programs = new RqPrograms();
    await programs.start();
    for (const name of ['setup_test_queues.sh', 'test_queues_setup.rb']) {
      const { code, output } = await programs.run(name);
      if (code !== 0) throw new Error(`${name} failed with ${code}:\n${output}\n${programs.log.slice(-4_000)}`);
    }
  });
  afterAll(async () => {
    const counted = PROGRAMS.filter((name) => passed.has(name)).length;
    print(`RQ programs: ${counted} of ${PROGRAMS.length} passed`);
    await programs?.close();
  });

  // They wait for a few seconds at most, which a loaded machine can exceed.
  test.each([...PROGRAMS, ...MORE_PROGRAMS])('%s', { retry: 1 }, async (name) => {
    const { code, output } = await programs.run(name);
    print(`${code === 0 ? 'passed' : 'failed'} ${name}`);
    if (code === 0) passed.add(name);
    if (code !== 0 && !different.has(name)) throw new Error(`${name} failed with ${code}:\n${output.slice(-4_000)}`);
  });

  test('rq programs: at least 36 of 40 pass', () => {
    expect(PROGRAMS.filter((name) => passed.has(name)).length).toBeGreaterThanOrEqual(REQUIRED);
  });
});
