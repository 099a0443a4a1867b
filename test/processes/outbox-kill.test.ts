/** Relays of an outbox that are killed with -9: at every step, and at random. Each committed row is one job, never 0 or 2. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Longhaul } from '../../src/library/index.ts';
import { connect, pgOutbox, sqliteOutbox } from '../../src/library/index.ts';
import { itIf, partIf } from '../support/it-if.ts';
import { describeWithPostgres, openPool, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { type Fixture, startFixture } from '../support/processes.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { isFullSize, testSize } from '../support/test-size.ts';

const LEASE_MS = 300;
const POINTS = testSize({
  small: ['after add', 'after mark', 'after commit'],
  full: ['take', 'add', 'mark', 'commit', 'delete'].flatMap((step) => [`before ${step}`, `after ${step}`]),
});

const COMMITTED = ['after commit', 'before delete', 'after delete'];

const folder = mkdtempSync(join(tmpdir(), 'longhaul-outbox-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let names = 0;
const aPath = (): string => join(folder, String(names++));

interface Source {
  /** What the fixture needs to open the same database. */
  readonly database: object;
  /** Runs transactions that each write one row; those in `undone` are rolled back. */
  write(rows: readonly { id: string; orderKey?: string }[], undone?: ReadonlySet<string>): Promise<void>;
  relay(longhaul: Longhaul): void;
  waiting(): Promise<number>;
}

function sqliteSource(): Source {
  const path = `${aPath()}.db`;
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA busy_timeout = 5000');
  let counter = (): Promise<number> => Promise.resolve(0);
  const opened = connect('memory:').then(async (memory) => {
    const outbox = memory.outbox(sqliteOutbox(db));
    await outbox.setup();
    counter = async () => (await outbox.status()).waiting;
    return outbox;
  });
  onTestFinished(() => db.close());
  return {
    database: { path },
    async write(rows, undone = new Set()) {
      const outbox = await opened;
      for (const { id, ...options } of rows) {
        db.exec('BEGIN IMMEDIATE');
        outbox.add(db, 'mail', id, { id, ...options });
        db.exec(undone.has(id) ? 'ROLLBACK' : 'COMMIT');
        if (rows.length > 1) await sleep(1);
      }
    },
    relay: (longhaul) => longhaul.outbox(sqliteOutbox(db), { lease: LEASE_MS, poll: 20 }).start(),
    waiting: () => counter(),
  };
}

function postgresSource(server: PostgresServer): Source {
  const pool = openPool(server);
  const opened = connect('memory:').then(async (memory) => {
    const outbox = memory.outbox(pgOutbox(pool));
    await pool.query('DROP TABLE IF EXISTS longhaul_outbox');
    await outbox.setup();
    return outbox;
  });
  onTestFinished(async () => {
    await (await opened).close();
    await pool.end();
  });
  return {
    database: { url: server.url },
    async write(rows, undone = new Set()) {
      const outbox = await opened;
      const client = await pool.connect();
      for (const { id, ...options } of rows) {
        await client.query('BEGIN');
        await outbox.add(client, 'mail', id, { id, ...options });
        await client.query(undone.has(id) ? 'ROLLBACK' : 'COMMIT');
      }
      client.release();
    },
    relay: (longhaul) => longhaul.outbox(pgOutbox(pool), { lease: LEASE_MS, poll: 20 }).start(),
    waiting: async () => (await (await opened).status()).waiting,
  };
}

/** Runs the jobs of the store, and deletes each as soon as it is done. Returns the ids in the order of their runs. */
async function runAndPrune(longhaul: Longhaul): Promise<string[]> {
  const runs: string[] = [];
  const queue = longhaul.queue('mail');
  await queue.configure({ retention: { done: { count: 0 } } });
  queue.work(async ({ id }) => void runs.push(id), { concurrency: 1 });
  return runs;
}

/** Adds a job and waits until it has run: the one worker takes jobs in their order. */
const runOne = (longhaul: Longhaul, id: string): Promise<unknown> => longhaul.queue('mail').run(id, { id });

async function isPruned(longhaul: Longhaul, id: string): Promise<boolean> {
  await longhaul.maintain();
  return (await longhaul.find(id)) === null;
}

/** A relay is killed at a step. What it left in the store runs and is pruned, and only then the next relay starts. */
async function killedAt(killAt: string, source: Source, address: string): Promise<void> {
  await using longhaul = await connect(address);
  const runs = await runAndPrune(longhaul);
  await source.write([{ id: 'row' }]);
  const relay = await startFixture('outbox-relay.mjs', [
    JSON.stringify({ address, database: source.database, lease: LEASE_MS, killAt }),
  ]);
  expect(await relay.ended).toMatchObject({ signal: 'SIGKILL' });
  // Everything that can be claimed runs and is pruned, before the next relay sees the row.
  await runOne(longhaul, 'first');
  await expect.poll(() => isPruned(longhaul, 'first')).toBe(true);
  expect(runs).toEqual(COMMITTED.includes(killAt) ? ['row', 'first'] : ['first']);
  source.relay(longhaul);
  await expect.poll(() => source.waiting()).toBe(0);
  // A second job would be claimed before this one.
  await runOne(longhaul, 'last');
  expect(runs.filter((id) => id === 'row')).toEqual(['row']);
}

/** Relays are killed at random while rows are written, some of them in transactions that are rolled back. */
async function killedAtRandom(source: Source, address: string): Promise<void> {
  await using longhaul = await connect(address);
  const runs = await runAndPrune(longhaul);
  const rows = Array.from({ length: 400 }, (_, index) => ({ id: `row-${index}`, orderKey: `key-${index % 5}` }));
  const undone = new Set(rows.filter((_, index) => index % 4 === 3).map(({ id }) => id));
  const plan = { address, database: source.database, lease: LEASE_MS, options: { batch: 5 } };
  let isWriting = true;
  let kills = 0;
  const written = (async () => {
    for (let from = 0; from < rows.length; from += 10) {
      await source.write(rows.slice(from, from + 10), undone);
      await sleep(40);
    }
    isWriting = false;
  })();
  const disturb = async (): Promise<void> => {
    while (isWriting) {
      const relay: Fixture = await startFixture('outbox-relay.mjs', [JSON.stringify(plan)]);
      await relay.next(({ type }) => type === 'ready');
      await sleep(20 + Math.random() * 200);
      await relay.kill9();
      kills += 1;
    }
  };
  await Promise.all([written, disturb(), disturb()]);
  source.relay(longhaul);
  const expected = rows.map(({ id }) => id).filter((id) => !undone.has(id));
  await expect.poll(() => source.waiting(), { timeout: 60_000 }).toBe(0);
  await expect.poll(() => runs.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(expected.length);
  await runOne(longhaul, 'last');
  expect(runs.toSorted()).toEqual([...expected, 'last'].toSorted());
  for (let key = 0; key < 5; key += 1) {
    const ofKey = (ids: readonly string[]) => ids.filter((id) => Number(id.split('-')[1]) % 5 === key);
    expect(ofKey(runs)).toEqual(ofKey(expected));
  }
  expect(kills).toBeGreaterThan(3);
}

describe('a relay over SQLite that is killed with -9', () => {
  it.each(POINTS)('%s: its row is one job, which runs once', async (point) => {
    await killedAt(point, sqliteSource(), aPath());
  });

  itIf(isFullSize)('at random: every committed row is one job, in the order of its key', async () => {
    await killedAtRandom(sqliteSource(), aPath());
  });
});

partIf(isFullSize, describeWithPostgres)('a relay over PostgreSQL that is killed with -9', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it.each(POINTS)('%s: its row is one job, which runs once', async (point) => {
    await killedAt(point, postgresSource(server), aPath());
  });

  it('at random: every committed row is one job, in the order of its key', async () => {
    await killedAtRandom(postgresSource(server), aPath());
  });

  describeWithRedis('into Redis', () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());

    it.each(POINTS.map((point, place) => [point, place] as const))(
      '%s: its row is one job, which runs once',
      async (point, place) => {
        await killedAt(point, postgresSource(server), `${redis.url}/${place}`);
      },
    );
  });
});
