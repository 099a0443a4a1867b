/** Blueque's own integration tests (tests/test_integration.py of a checkout of 1.0.0), with the compat layer behind a shim. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnGuarded } from '../../support/guarded-process.ts';
import { hasRedis, type RedisServer, startRedis } from '../../support/redis-server.ts';
import { pathOf } from './checkout.ts';
import { blueque, pythonWithRedis } from './python.ts';

const fixtures = join(import.meta.dirname, '../../fixtures');
const SCENARIOS = [
  'test_orphaned_task_can_be_claimed',
  'test_scheduled_tasks_are_enqueued',
  'test_task_can_be_enqueued_and_return_result',
  'test_task_can_return_failing_status',
];

const path = pathOf(blueque);
describe.skipIf(path === null)("Blueque's own integration tests", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test.skipIf(!hasRedis)('pass, every scenario', async () => {
    const line = [join(fixtures, 'blueque-suite.py'), join(fixtures, 'blueque-shim'), path ?? ''];
    const env = {
      ...process.env,
      REDIS_URI: `${redis.url}/0`,
      LONGHAUL_NODE: process.execPath,
      LONGHAUL_BRIDGE: join(fixtures, 'blueque-bridge.mjs'),
    };
    const run = await spawnGuarded(pythonWithRedis() ?? 'python3', line, { env });
    let [stdout, stderr] = ['', ''];
    run.stdout.on('data', (chunk) => (stdout += String(chunk)));
    run.stderr.on('data', (chunk) => (stderr += String(chunk)));
    expect({ ...(await run.ended), stderr }).toEqual({ code: 0, signal: null, stderr: '' });
    const results = stdout
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each) as { test: string; error?: string });
    expect(results).toEqual(SCENARIOS.map((each) => ({ test: each })));
  });
});
