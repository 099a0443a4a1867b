import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, expect, it } from 'vitest';
import type { RunSql, SqlRow } from '../../src/library/index.ts';
import { connect, pgOutbox, sqliteOutbox, sqlOutbox } from '../../src/library/index.ts';
import { loadPg } from '../../src/library/outbox/pg-outbox.ts';
import { partIf } from '../support/it-if.ts';
import { isFullSize } from '../support/test-size.ts';
import { type OutboxDatabase, outboxOver } from './outbox.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-outbox-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

type Db = InstanceType<typeof DatabaseSync>;

function openDatabase(): Db {
  const db = new DatabaseSync(join(folder, `${files++}.db`));
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA busy_timeout = 5000');
  return db;
}

async function inTransaction(db: Db, work: () => Promise<void>): Promise<void> {
  db.exec('BEGIN');
  try {
    await work();
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

outboxOver('SQLite, on the connection of the user', async (): Promise<OutboxDatabase> => {
  const db = openDatabase();
  const adapter = sqliteOutbox(db);
  const memory = await connect('memory:');
  const writer = memory.outbox(adapter);
  await writer.setup();
  return {
    outbox: (longhaul, options) => longhaul.outbox(sqliteOutbox(db), options),
    transaction: (work) => inTransaction(db, () => work(async (...job) => writer.add(db, ...job).id)),
    run: async (sql) => db.exec(sql),
    async close() {
      await memory.close();
      db.close();
    },
  };
});

partIf(isFullSize, outboxOver)('a function that runs SQL of SQLite', async (): Promise<OutboxDatabase> => {
  const [db, other] = [openDatabase(), new DatabaseSync(join(folder, `${files - 1}.db`))];
  other.exec('PRAGMA busy_timeout = 5000');
  const runOn =
    (connection: Db): RunSql =>
    async (sql, parameters) =>
      connection.prepare(sql).all(...parameters) as SqlRow[];
  const memory = await connect('memory:');
  const writer = memory.outbox(sqlOutbox(runOn(db), { dialect: 'sqlite' }));
  await writer.setup();
  return {
    outbox: (longhaul, options) => longhaul.outbox(sqlOutbox(runOn(other), { dialect: 'sqlite' }), options),
    transaction: (work) => inTransaction(db, () => work(async (...job) => (await writer.add(runOn(db), ...job)).id)),
    run: async (sql) => db.exec(sql),
    async close() {
      await memory.close();
      db.close();
      other.close();
    },
  };
});

it('names the package to install where pg is missing', async () => {
  const missing = loadPg(() => Promise.reject(new Error('not found')));
  await expect(missing).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining('npm install pg') as string,
  });
});

it('refuses what is no adapter, no database and no table, and says what to give', async () => {
  await using longhaul = await connect('memory:');
  const db = openDatabase();
  expect(() => longhaul.outbox(db as never)).toThrow('sqliteOutbox(db)');
  expect(() => sqliteOutbox({} as never)).toThrow('node:sqlite');
  expect(() => pgOutbox({} as never)).toThrow('pg.Pool');
  expect(() => sqlOutbox(async () => [], {} as never)).toThrow('dialect');
  expect(() => sqliteOutbox(db, { table: 'a; DROP TABLE b' })).toThrow('table');
  expect(() => longhaul.outbox(sqliteOutbox(db), { lease: 1 })).toThrow('lease');
  db.close();
});
