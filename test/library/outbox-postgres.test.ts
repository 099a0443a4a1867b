/** The outbox over a real PostgreSQL: one small test here; the whole suite at full size. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunSql, SqlRow } from '../../src/library/index.ts';
import { connect, pgOutbox, sqlOutbox } from '../../src/library/index.ts';
import { printFigures } from '../faults/fault-environment.ts';
import { partIf } from '../support/it-if.ts';
import {
  describeWithPostgres,
  openPool,
  type PostgresServer,
  startPostgres,
  type TestPool,
} from '../support/postgres.ts';
import { startRedis } from '../support/redis-server.ts';
import { isFullSize } from '../support/test-size.ts';
import { type Add, type OutboxDatabase, outboxOver } from './outbox.ts';

const COMMITS = 500;
const WARM_UP = 50;

describeWithPostgres('PostgreSQL', () => {
  let server: PostgresServer;
  let pool: TestPool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = openPool(server);
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  async function inTransaction(
    work: (client: Awaited<ReturnType<TestPool['connect']>>) => Promise<void>,
  ): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await work(client);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  }

  /** Returns how long each job waited from its commit to its handler, in ms, sorted, once all has started. The relay never polls. */
  async function commitToClaim(synced: PostgresServer, address: string): Promise<readonly number[]> {
    const commits = openPool(synced);
    await using longhaul = await connect(address);
    const outbox = longhaul.outbox(pgOutbox(synced.url), { poll: '1h' });
    await outbox.setup();
    outbox.start();
    const [committed, claimed] = [new Map<string, number>(), new Map<string, number>()];
    longhaul.queue('mail').work(async ({ id }) => void claimed.set(id, performance.now()), { concurrency: 10 });
    const client = await commits.connect();
    for (let index = 0; index < WARM_UP + COMMITS; index += 1) {
      // Connecting and loading code belong to the start of relay and worker, not to the time of a job.
      if (index === WARM_UP) await expect.poll(() => claimed.size).toBe(WARM_UP);
      await client.query('BEGIN');
      const { id } = await outbox.add(client, 'mail', index, { orderKey: `k${index % 7}` });
      await client.query('COMMIT');
      committed.set(id, performance.now());
      await sleep(10);
    }
    await expect.poll(() => claimed.size).toBe(WARM_UP + COMMITS);
    client.release();
    await outbox.close();
    await commits.end();
    const times = [...committed].map(([id, at]) => (claimed.get(id) ?? Number.NaN) - at);
    return times.slice(WARM_UP).toSorted((a, b) => a - b);
  }

  it('notifies the relay of a commit: the job can be claimed long before the next poll', async () => {
    await using longhaul = await connect('memory:');
    const outbox = longhaul.outbox(pgOutbox(pool), { poll: '1h' });
    await outbox.setup();
    outbox.start();
    const done: unknown[] = [];
    longhaul.queue('mail').work(async ({ data }) => void done.push(data));
    await inTransaction(async (client) => void (await outbox.add(client, 'mail', 'first')));
    await expect.poll(() => done).toEqual(['first']);
    const rollback = inTransaction(async (client) => {
      await outbox.add(client, 'mail', 'rolled back');
      throw new Error('no');
    });
    await expect(rollback).rejects.toThrow('no');
    await inTransaction(async (client) => void (await outbox.add(client, 'mail', 'second')));
    await expect.poll(() => done).toEqual(['first', 'second']);
    await outbox.close();
    await pool.query('DROP TABLE longhaul_outbox');
  });

  const fresh = async (): Promise<void> => void (await pool.query('DROP TABLE IF EXISTS longhaul_outbox'));

  partIf(isFullSize, outboxOver)('pg', async (): Promise<OutboxDatabase> => {
    await fresh();
    const memory = await connect('memory:');
    const writer = memory.outbox(pgOutbox(pool));
    await writer.setup();
    return {
      outbox: (longhaul, options) => longhaul.outbox(pgOutbox(pool), options),
      transaction: (work) =>
        inTransaction((client) => work(async (...job: Parameters<Add>) => (await writer.add(client, ...job)).id)),
      run: async (sql) => void (await pool.query(sql)),
      close: () => memory.close(),
    };
  });

  partIf(isFullSize, outboxOver)('a function that runs SQL of PostgreSQL', async (): Promise<OutboxDatabase> => {
    await fresh();
    const runOn =
      (connection: Pick<TestPool, 'query'>): RunSql =>
      async (sql, parameters) =>
        (await connection.query(sql, parameters)).rows as SqlRow[];
    const memory = await connect('memory:');
    const writer = memory.outbox(sqlOutbox(runOn(pool), { dialect: 'postgres' }));
    await writer.setup();
    return {
      outbox: (longhaul, options) => longhaul.outbox(sqlOutbox(runOn(pool), { dialect: 'postgres' }), options),
      transaction: (work) =>
        inTransaction((client) =>
          work(async (...job: Parameters<Add>) => (await writer.add(runOn(client), ...job)).id),
        ),
      run: async (sql) => void (await pool.query(sql)),
      close: () => memory.close(),
    };
  });

  partIf(isFullSize, describe)('an outbox over pg', () => {
    it('keeps the order of a key although transactions commit in another order than they began', async () => {
      await fresh();
      await using longhaul = await connect('memory:');
      const outbox = longhaul.outbox(pgOutbox(pool), { poll: 20 });
      await outbox.setup();
      outbox.start();
      const [slow, fast] = [await pool.connect(), await pool.connect()];
      onTestFinished(() => [slow, fast].forEach((client) => client.release(true)));
      await slow.query('BEGIN');
      await fast.query('BEGIN');
      await outbox.add(slow, 'mail', 1, { id: 'earlier', orderKey: 'k' });
      await outbox.add(slow, 'mail', 1, { id: 'no-key-1' });
      // Without the lock of the key, this transaction would get the next number and commit first.
      const later = outbox.add(fast, 'mail', 2, { id: 'later', orderKey: 'k' }).then(() => fast.query('COMMIT'));
      await inTransaction(async (client) => void (await outbox.add(client, 'mail', 3, { id: 'no-key-2' })));
      await expect.poll(async () => (await longhaul.queue('mail').peek()).map(({ id }) => id)).toEqual(['no-key-2']);
      await slow.query('COMMIT');
      await later;
      await expect
        .poll(async () => (await longhaul.queue('mail').peek()).map(({ id }) => id))
        .toEqual(['no-key-2', 'earlier', 'no-key-1', 'later']);
    });

    it('relays no row of a key while another relay takes an earlier one', async () => {
      await fresh();
      await using longhaul = await connect('memory:');
      const outbox = longhaul.outbox(pgOutbox(pool), { poll: 20 });
      await outbox.setup();
      await inTransaction(async (client) => {
        for (const id of ['first', 'second']) await outbox.add(client, 'mail', 1, { id, orderKey: 'k' });
        await outbox.add(client, 'mail', 1, { id: 'other' });
      });
      const ids = async () => (await longhaul.queue('mail').peek()).map(({ id }) => id);
      await inTransaction(async (client) => {
        // The lock that a relay has between its read and its commit.
        await client.query(`SELECT seq FROM longhaul_outbox WHERE id = 'first' FOR UPDATE`);
        outbox.start();
        await expect.poll(ids).toContain('other');
        expect(await ids()).toEqual(['other']);
      });
      await expect.poll(ids).toEqual(['other', 'first', 'second']);
    });

    it('lets a worker claim a job within 50 ms of the commit, at the 99th percentile', async () => {
      const synced = await startPostgres({ isSynced: true });
      const redis = await startRedis();
      onTestFinished(async () => {
        await synced.stop();
        await redis.stop();
      });
      for (const [store, address] of [
        ['SQLite', mkdtempSync(join(tmpdir(), 'longhaul-outbox-'))],
        ['Redis', redis.url],
      ] as const) {
        const times = await commitToClaim(synced, address);
        const at = (share: number): number => times[Math.ceil(times.length * share) - 1] ?? Number.NaN;
        printFigures(`outbox, commit to claim, ${store}`, {
          jobs: times.length,
          p50: at(0.5),
          p99: at(0.99),
          max: at(1),
        });
        expect(at(0.99)).toBeLessThanOrEqual(50);
      }
    });

    it('continues after the server was killed, and is notified again', async () => {
      await fresh();
      await using longhaul = await connect('memory:');
      const events: string[] = [];
      const outbox = longhaul.outbox(pgOutbox(pool), { poll: '1h', onEvent: ({ type }) => void events.push(type) });
      await outbox.setup();
      outbox.start();
      await inTransaction(async (client) => void (await outbox.add(client, 'mail', 1, { id: 'before' })));
      await expect.poll(() => longhaul.find('before')).toMatchObject({ state: 'waiting' });
      await server.kill9();
      await expect.poll(() => events).toContain('away');
      await server.restart();
      await expect.poll(() => events).toContain('back');
      await inTransaction(async (client) => void (await outbox.add(client, 'mail', 2, { id: 'after' })));
      await expect.poll(() => longhaul.find('after')).toMatchObject({ state: 'waiting' });
    });
  });
});
