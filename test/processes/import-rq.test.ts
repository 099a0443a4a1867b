/** `longhaul import --from-rq`: an RQ directory as version 1.18.3 leaves it when it is stopped. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deleteQueue } from '../../src/core/settings/delete-queue.ts';
import { QUEUE_RECORD } from '../../src/core/settings/settings.ts';
import { listAttachments } from '../../src/files/attachments/attachments.ts';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { spawnGuarded } from '../support/guarded-process.ts';
import { testSize } from '../support/test-size.ts';

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');
const ID = (number: number): string => `20240301.1230.${String(number).padStart(2, '0')}.250.${9_000 + number}`;

let folder = '';
let rq = '';
let home = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-rq-import-'));
  rq = join(folder, 'rq');
  home = join(folder, 'home');
  mkdirSync(join(rq, 'queue.noindex'), { recursive: true });
  mkdirSync(join(rq, 'config'));
  symlinkSync('queue.noindex', join(rq, 'queue'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Files {
  readonly status?: string;
  readonly log?: string;
  readonly attach?: Readonly<Record<string, string>>;
  readonly pid?: number;
}

function aQueue(name: string, config: object = {}): void {
  mkdirSync(join(rq, 'queue', name), { recursive: true });
  writeFileSync(join(rq, 'queue', name, 'config.json'), JSON.stringify({ name, num_workers: '2', ...config }));
}

/** A message directory with the files that RQ writes. */
function aMessage(path: string, fields: object, { status, log, attach = {}, pid }: Files = {}): void {
  const directory = join(rq, 'queue', path);
  mkdirSync(join(directory, 'attach'), { recursive: true });
  mkdirSync(join(directory, 'job'));
  const msg_id = path.split('/').at(-1);
  writeFileSync(
    join(directory, 'msg'),
    JSON.stringify({ msg_id, dest: 'films', count: 0, max_count: 15, due: 1_709_296_200, ...fields }),
  );
  if (status !== undefined) writeFileSync(join(directory, 'status'), JSON.stringify({ job_status: status }));
  if (log !== undefined) writeFileSync(join(directory, 'job/stdio.log'), log);
  if (pid !== undefined) writeFileSync(join(directory, 'pid'), `${pid}`);
  for (const [name, content] of Object.entries(attach)) writeFileSync(join(directory, 'attach', name), content);
}

async function run(...args: readonly string[]) {
  const child = await spawnGuarded(process.execPath, [CLI, ...args, '--home', home]);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  return { ...(await child.ended), stdout, stderr };
}

async function importRq(...more: readonly string[]) {
  const { code, stdout, stderr } = await run('import', '--from-rq', rq, '--json', ...more);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown> & {
    imported: Record<string, number>;
    unmapped: readonly string[];
  };
}

async function withStore<T>(use: (store: Awaited<ReturnType<typeof openSqliteStore>>) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ path: join(home, 'store.db') });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Every path below a directory with its content and times. */
const snapshot = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((path) => {
      const { mtimeMs, ctimeMs, mode } = statSync(join(directory, path));
      const content = statSync(join(directory, path)).isFile() ? readFileSync(join(directory, path)) : '';
      return [path, mtimeMs, ctimeMs, mode, createHash('md5').update(content).digest('hex')].join(' ');
    });

test('imports queues, messages of every state, attachments and logs, and leaves the source unchanged', async () => {
  const schedule = [{ cron: '*/10 * * * *', param1: 'tick' }];
  aQueue('films', { script: './code/films.sh', schedule, coalesce_params: [1] });
  writeFileSync(join(rq, 'config/films.pause'), '');
  writeFileSync(join(rq, 'config/rq_router_rules.rb'), '');
  writeFileSync(join(rq, 'queue/films/form.json'), '{"default":"hidden"}');
  aQueue('old.deleted.4711', { name: 'old', script: '/old' });
  aQueue('webhook', { script: './code/webhook.rb' });
  aMessage(`webhook/que/${ID(60)}`, {});
  aMessage(
    `films/prep/${ID(1)}`,
    { param1: 'draft', path: 'queue/films', state: 'prep', _attachments: {} },
    { attach: { 'in.bin': 'one' } },
  );
  aMessage(
    `films/que/${ID(2)}`,
    { param1: 'later', due: 4_000_000_000, count: 3, src: 'me', post_run_webhook: ['http://a/b'] },
    { attach: { a: 'A', b: 'B' }, log: 'first run\n' },
  );
  aMessage(`films/run/${ID(3)}`, { param1: 'stopped' }, { pid: 999_999_999, log: 'half done\n' });
  aMessage(`films/err/${ID(4)}`, { param1: 'broken', count: 2 }, { status: 'no space', log: 'RQ START\nno space\n' });
  aMessage(
    `films/done/20240301/12/30/${ID(5)}`,
    { param1: 'good' },
    { status: 'fine', log: 'ok\n', attach: { out: 'X' } },
  );
  aMessage(`films/relayed/20240301/12/30/${ID(6)}`, { dest: 'http://b:3333/q/x' }, { status: 'http://b:3333/q/x/77' });
  mkdirSync(join(rq, `queue/films/prep/_20240301.1230.09.000`));
  mkdirSync(join(rq, `queue/films/que/${ID(7)}`), { recursive: true });
  const before = snapshot(rq);

  mkdirSync(home);
  await withStore(async () => undefined);
  const dry = await importRq('--dry-run');
  expect(readdirSync(home).filter((name) => name === 'blobs' || name === 'queues' || name === 'jobs')).toEqual([]);
  const expected = { drafts: 1, waiting: 2, done: 2, failed: 1, schedules: 1 };
  expect(dry).toMatchObject({ imported: expected, queues: 1 });
  const unmapped = [
    '1 messages of webhook: let RQ call its last webhooks before you stop it',
    "config/rq_router_rules.rb: RQ's rules are not read; write router.json instead",
    `${ID(7)} of films (que): its directory has no message file`,
  ];
  expect(await importRq()).toMatchObject({
    imported: expected,
    known: 0,
    queues: 1,
    attachments: 4,
    logs: 4,
    unmapped: expect.arrayContaining(unmapped),
  });
  expect(await importRq()).toMatchObject({
    imported: { drafts: 0, waiting: 0, done: 0, failed: 0, schedules: 0 },
    known: 6,
    queues: 0,
  });
  expect(snapshot(rq)).toEqual(before);

  expect(JSON.parse(readFileSync(join(home, 'queues/films.json'), 'utf8'))).toMatchObject({
    script: join(rq, 'code/films.sh'),
    schedule,
  });
  expect(readFileSync(join(home, 'queue/films/form.json'), 'utf8')).toBe('{"default":"hidden"}');
  await withStore(async ({ jobs, records }) => {
    const found = await jobs.find([1, 2, 3, 4, 5, 6].map(ID));
    expect(found).toMatchObject([
      { state: 'draft', data: JSON.stringify({ dest: 'films', param1: 'draft' }) },
      { state: 'waiting', runAt: 4_000_000_000_000, policy: { maxResends: 12, hooks: [{ url: 'http://a/b' }] } },
      { state: 'waiting', runAt: 1_709_296_200_000 },
      {
        state: 'failed',
        failure: { message: 'no space' },
        attempt: 1,
        resends: 2,
        createdAt: Date.UTC(2024, 2, 1, 12, 30, 4, 250),
      },
      { state: 'done', result: '{"status":"fine"}', forwardedTo: null },
      { state: 'done', forwardedTo: 'http://b:3333/q/x/77' },
    ]);
    expect(JSON.parse((await records.get(QUEUE_RECORD, 'films'))?.value ?? '{}')).toMatchObject({ state: 'paused' });
    expect(await jobs.count(['old'])).toMatchObject([{ waiting: 0, done: 0 }]);
  });
  await withStore(async (store) => {
    const names = async (number: number) =>
      (await listAttachments(store, ID(number))).map(({ name, direction }) => `${direction} ${name}`);
    expect([await names(1), await names(2), await names(3), await names(5)]).toEqual([
      ['in in.bin'],
      ['in a', 'in b', 'out stdio.log'],
      ['out stdio.log'],
      ['in out'],
    ]);
  });
  expect((await run('logs', ID(4))).stdout).toBe('RQ START\nno space\n');
  expect((await run('attach', ID(2), '--get', 'b', '-o', join(folder, 'b'))).code).toBe(0);
  expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('B');
});

test('refuses while RQ runs, skips a script that still runs, and names bad files', async () => {
  aQueue('films', { script: '/films' });
  const alive = spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    aMessage(`films/run/${ID(1)}`, {}, { pid: alive.pid ?? 0 });
    aMessage(`films/que/${ID(2)}`, {}, { attach: { 'bad\nname': 'x' } });
    const { unmapped, imported } = await importRq();
    expect(unmapped).toEqual([
      `${ID(1)} of films (run): its script still runs (pid ${alive.pid}); import again when it has ended`,
      expect.stringContaining(`${ID(2)} of films: attachment "bad\\nname": the name must have no control characters`),
    ]);
    expect(imported).toMatchObject({ waiting: 0 });
  } finally {
    alive.kill('SIGKILL');
  }
  const manager = await spawnGuarded('sh', ['-c', 'while read -r line; do :; done; : rq-mgr']);
  writeFileSync(join(rq, 'config/queuemgr.pid'), `${manager.pid}\n`);
  const refused = await run('import', '--from-rq', rq);
  expect({ code: refused.code, stderr: refused.stderr }).toEqual({
    code: 1,
    stderr: `longhaul: RQ runs on ${rq} (pid ${manager.pid}): stop it first with bin/rq-mgr stop\n`,
  });
  manager.signal('SIGKILL');
  await manager.ended;
  const nowhere = await run('import', '--from-rq', folder);
  expect({ code: nowhere.code, stderr: nowhere.stderr }).toEqual({
    code: 2,
    stderr: `longhaul: ${folder} is no directory of RQ: it has no directory queue/\n`,
  });
});

test('a queue that was deleted here stays deleted', async () => {
  aQueue('films', { script: '/films' });
  aMessage(`films/done/20240301/12/30/${ID(5)}`, {});
  aMessage(`films/que/${ID(6)}`, {});
  expect((await importRq()).imported).toMatchObject({ waiting: 1, done: 1 });
  rmSync(join(home, 'queues/films.json'));
  await withStore((store) => deleteQueue(store, 'films'));
  const again = await importRq();
  expect(again.imported).toMatchObject({ waiting: 0, done: 0 });
  expect(again.unmapped).toEqual([
    'settings of queue films: it was deleted here, and stays deleted',
    `${ID(6)} of films: its queue was deleted here, and stays deleted`,
    `${ID(5)} of films: its queue was deleted here, and stays deleted`,
  ]);
  expect(readdirSync(join(home, 'queues'))).toEqual([]);
});

test('an import that is killed again and again is completed by the next one, with every file', async () => {
  const [count, kills] = [testSize({ small: 120, full: 2_000 }), testSize({ small: 3, full: 12 })];
  aQueue('films', { script: '/films' });
  const idOf = (number: number) => `20240301.1230.00.${String(number % 1_000).padStart(3, '0')}.${20_000 + number}`;
  for (let number = 0; number < count; number += 1)
    aMessage(
      number % 2 === 0 ? `films/que/${idOf(number)}` : `films/done/20240301/12/30/${idOf(number)}`,
      { param1: String(number) },
      { attach: { file: `content ${number}` }, log: `log ${number}\n` },
    );
  for (let kill = 0; kill < kills; kill += 1) {
    const child = await spawnGuarded(process.execPath, [CLI, 'import', '--from-rq', rq, '--home', home]);
    child.stdout.resume();
    child.stderr.resume();
    await Promise.race([child.ended, sleep(350 + kill * 150)]);
    child.signal('SIGKILL');
    await child.ended;
  }
  await importRq();
  const again = await importRq();
  expect(again).toMatchObject({ known: count, unmapped: [] });
  await withStore(async (store) => {
    expect(await store.jobs.count(['films'])).toMatchObject([{ waiting: count / 2, done: count / 2 }]);
    for (let number = 0; number < count; number += 1) {
      const files = await listAttachments(store, idOf(number));
      const sha256 = createHash('sha256').update(`content ${number}`).digest('hex');
      expect(files.find(({ name }) => name === 'file')).toMatchObject({ sha256 });
    }
  });
  expect((await run('logs', idOf(1))).stdout).toBe('log 1\n');
});
