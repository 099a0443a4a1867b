/** `longhaul outbox` beside a node: it relays rows that any program wrote, and node and doctor show the state. */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { beforeAll, expect, it } from 'vitest';
import { CliBench, eventually, type RunningCommand } from './cli-bench.ts';

const bench = new CliBench();
const file = join(bench.folder, 'shop.db');
const db = new DatabaseSync(file);
let relay: RunningCommand;

const insert = (id: string, data: string): void =>
  void db.prepare('INSERT INTO longhaul_outbox (id, queue, data) VALUES (?, ?, ?)').run(id, 'mail', data);
const metrics = async (): Promise<string> =>
  (await bench.shell(`curl -sS --unix-socket ${join(bench.home, 'node.sock')} http://node/metrics`)).stdout;

beforeAll(async () => {
  await bench.serve();
  relay = await bench.start(['outbox', '--from', file, '--setup', '--name', 'shop']);
  await eventually(
    async () => relay.output().stderr,
    (text) => text.includes('relaying the outbox shop.db'),
  );
});

it('relays rows of a SQLite file, shows an invalid one everywhere, and relays it after --retry', async () => {
  expect(await bench.run('outbox', '--from', file, '--status')).toEqual({
    code: 0,
    stdout: '0 rows wait; 0 failed\n',
    stderr: '',
  });
  insert('bad', '{');
  insert('good', '{"n":1}');
  await eventually(
    () => bench.run('show', 'good', '--json'),
    ({ code }) => code === 0,
  );
  // A job can be seen before the relay has its answer and deletes the row.
  const status = await eventually(
    () => bench.run('outbox', '--from', file, '--status'),
    ({ stdout }) => stdout.startsWith('0 rows wait'),
  );
  expect(status).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('0 rows wait; 1 failed\nbad  mail  ') as string,
  });
  expect(relay.output().stderr).toContain('row bad cannot be relayed: outbox row: data: is not JSON');
  const text = await eventually(metrics, (page) => page.includes('longhaul_outbox_failed{outbox="shop"} 1'));
  expect(text).toContain('longhaul_outbox_lag_seconds{outbox="shop"} 0\n');
  const { stdout } = await bench.run('doctor');
  expect(stdout).toMatch(/warning +outbox +outbox shop: 1 row cannot be relayed/);

  db.exec(`UPDATE longhaul_outbox SET data = '2' WHERE id = 'bad'`);
  expect(await bench.json('outbox', '--from', file, '--retry')).toEqual({ retried: 1 });
  await eventually(
    () => bench.run('show', 'bad', '--json'),
    ({ code }) => code === 0,
  );
  relay.child.signal('SIGTERM');
  expect(await relay.ended).toMatchObject({ code: 0, stdout: 'relayed 2 jobs\n' });
});

it('refuses a missing file, a missing table and a missing address, and says what to do', async () => {
  new DatabaseSync(join(bench.folder, 'empty.db')).close();
  const refused = async (message: string, ...line: string[]): Promise<void> => {
    const result = await bench.run('outbox', ...line);
    expect(result.stderr).toContain(message);
    expect(result).toMatchObject({ code: 2, stdout: '' });
  };
  await refused('--from is missing');
  await refused('there is no file', '--from', join(bench.folder, 'none.db'));
  await refused('create it with --setup', '--from', join(bench.folder, 'empty.db'));
  await refused('cannot be combined', '--from', file, '--status', '--retry');
  await refused('ECONNREFUSED', '--from', 'postgres://user:secret@127.0.0.1:1/shop', '--status');
  expect(
    (await bench.run('outbox', '--from', 'postgres://user:secret@127.0.0.1:1/shop', '--status')).stderr,
  ).not.toContain('secret');
});
