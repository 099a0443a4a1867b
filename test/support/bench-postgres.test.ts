/** The PostgreSQL server of the benchmarks: durable, with its data after a crash, and gone at the end. */
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

interface Postgres {
  readonly folder: string;
  query(sql: string, database?: string): Promise<string>;
  recreate(database: string): Promise<void>;
  halt(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}
interface Modules {
  findPostgres(): Promise<{ bin: string; version: string } | undefined>;
  startPostgres(options: { bin: string; parent: string }): Promise<Postgres>;
}

const root = join(import.meta.dirname, '../..');
const load = async (path: string) => (await import(join(root, path))) as Modules;
const isRoot = process.getuid?.() === 0;

it('a server of the benchmarks is durable and leaves nothing behind', async ({ skip }) => {
  const { findPostgres } = await load('scripts/find-postgres.mjs');
  const { startPostgres } = await load('bench/frame/postgres-server.mjs');
  const found = existsSync('/usr/lib/postgresql') || process.env.POSTGRES_BIN ? await findPostgres() : undefined;
  if (!found) return skip('there is no PostgreSQL server on this machine');
  const parent = await mkdtemp(join(tmpdir(), 'postgres-test-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const server = await startPostgres({ bin: found.bin, parent });
  onTestFinished(() => server.stop());
  const settings = "select string_agg(setting, ' ' order by name) from pg_settings where name in";
  expect(await server.query(`${settings} ('fsync', 'full_page_writes', 'synchronous_commit')`)).toBe('on on on');
  // A directory that only root may enter is no place for a server of another user.
  expect(server.folder.startsWith(parent)).toBe(!isRoot);
  expect(statSync(join(server.folder, 'data')).uid === 0).toBe(false);
  await server.recreate('trial');
  await server.query('create table kept as select 42 as n', 'trial');
  await server.halt();
  await expect(server.query('select 1')).rejects.toThrow('refused');
  await server.restart();
  expect(await server.query('select n from kept', 'trial')).toBe('42');
  await server.recreate('trial');
  await expect(server.query('select n from kept', 'trial')).rejects.toThrow('does not exist');
  await server.stop();
  expect(existsSync(server.folder)).toBe(false);
});

it('a directory without PostgreSQL is refused with what to do', async () => {
  const { findPostgres } = await load('scripts/find-postgres.mjs');
  process.env.POSTGRES_BIN = '/nowhere';
  onTestFinished(() => void delete process.env.POSTGRES_BIN);
  await expect(findPostgres()).rejects.toThrow('POSTGRES_BIN is /nowhere, which has no PostgreSQL 14 or newer');
});
