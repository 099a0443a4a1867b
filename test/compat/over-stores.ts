/**
 * Runs the tests of a compat layer over each store: `open()` returns connections to one and the same store, closed after
 * the test.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { ConnectOptions, Longhaul } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';

/** A connection to the store of the present test; the second one is another, where the store can be opened twice. */
export type OpenStore = () => Promise<Longhaul>;

export function overStores(layer: string, tests: (open: OpenStore) => void, options: ConnectOptions = {}): void {
  describe(`${layer} over memory`, () => {
    let shared: Promise<Longhaul> | null = null;
    afterEach(async () => {
      await (await shared)?.close();
      shared = null;
    });
    tests(() => (shared ??= connect('memory:', options)));
  });

  describe(`${layer} over SQLite`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-compat-'));
    let homes = 0;
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const open = closedAfterEach(
      // What survives a power cut is the contract's to test, and costs a sync for each call.
      () => connect(join(folder, String(homes)), { ...options, durability: 'relaxed' }),
      () => (homes += 1),
    );
    tests(open);
  });

  describeWithRedis(`${layer} over Redis`, () => {
    let redis: RedisServer;
    let namespaces = 0;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());
    const open = closedAfterEach(
      () => connect(redis.url, { ...options, namespace: `compat-${namespaces}` }),
      () => (namespaces += 1),
    );
    tests(open);
  });
}

function closedAfterEach(open: OpenStore, next: () => void): OpenStore {
  const opened: Longhaul[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((longhaul) => longhaul.close()));
    next();
  });
  return async () => {
    const longhaul = await open();
    opened.push(longhaul);
    return longhaul;
  };
}
