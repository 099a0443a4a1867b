/** `longhaul doctor`: finds each planted fault with the right level and cure; a healthy data directory has none. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/library/index.ts';
import type { Finding } from '../../src/node/doctor/finding.ts';
import { openDatabase } from '../../src/stores/sqlite/engine/sqlite-database.ts';
import { flipBit } from '../processes/blobs-workbench.ts';
import { Bench, cli } from '../processes/scripts-workbench.ts';
import { CliSession, type CommandResult } from '../support/cli-session.ts';
import { spawnGuarded } from '../support/guarded-process.ts';
import { startSentinels } from '../support/redis-fleet.ts';
import { hasRedis, startRedis } from '../support/redis-server.ts';
import { aBench } from './serve-bench.ts';

const isRoot = process.getuid?.() === 0;

interface Report {
  readonly code: number;
  readonly findings: readonly Finding[];
}

const session = new CliSession(tmpdir());
afterAll(() => session.close());

interface Call {
  readonly options?: readonly string[];
  /** Shell code, for limits that are set first: the command then has a process of its own. */
  readonly before?: string;
}

async function examine(home: string, { options = [], before }: Call = {}): Promise<Report> {
  const argv = ['doctor', '--home', home, '--json', ...options];
  const { code, stdout, stderr } = await (before === undefined
    ? session.run(argv, process.env)
    : runAfter(before, argv));
  if (!stdout.startsWith('{')) throw new Error(`doctor printed ${stdout}${stderr}`);
  return { code, ...(JSON.parse(stdout) as { findings: Finding[] }) };
}

function runAfter(before: string, argv: readonly string[]): CommandResult {
  const args = ['-c', `${before} exec node "$@"`, 'sh', cli, ...argv];
  const { status, stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8' });
  return { code: status ?? -1, stdout, stderr };
}

const bad = ({ findings }: Report): readonly Finding[] =>
  findings.filter(({ level }) => level === 'warning' || level === 'error');

const messagesOf = ({ findings }: Report): string => findings.map(({ message }) => message).join('\n');

let template: Bench | null = null;

/** A data directory with a job that has a file; created once, and copied for each test. */
function aHome(): Bench {
  template ??= makeTemplate();
  const bench = aBench();
  cpSync(template.home, bench.home, { recursive: true, preserveTimestamps: true });
  return bench;
}

afterAll(() => template?.close());

function makeTemplate(): Bench {
  const bench = new Bench();
  bench.queue('work', 'true');
  for (const name of readdirSync(bench.queues)) chmodSync(join(bench.queues, name), 0o700);
  const file = join(bench.home, 'queues', '.film~');
  writeFileSync(file, 'a file that a job has'.repeat(100), { mode: 0o600 });
  const options = ['--id', 'one', '--attach', file, '--create', '--store', bench.home];
  expect(bench.run('add', 'work', ...options)).toMatchObject({ code: 0 });
  return bench;
}

const blobIn = (home: string): string => {
  const found = readdirSync(join(home, 'blobs'), { recursive: true, encoding: 'utf8' }).find((name) =>
    /[0-9a-f]{64}$/.test(name),
  );
  return join(home, 'blobs', found ?? 'none');
};

test('A healthy data directory has no fault, even while its node runs.', async () => {
  const bench = aHome();
  expect(bad(await examine(bench.home, { options: ['--deep', '--scrub'] }))).toEqual([]);
  const node = await bench.serve();
  await bench.until('one', 'done');
  const report = await examine(bench.home);
  expect(bad(report)).toEqual([]);
  expect(report.code).toBe(0);
  expect(report.findings).toContainEqual(
    expect.objectContaining({ about: 'node', message: expect.stringContaining(`${node.pid}) is ready`) as string }),
  );
  await node.terminate();
});

interface Fault {
  readonly name: string;
  plant(home: string): void | Promise<void>;
  readonly how?: Call;
  readonly code: number;
  readonly about: string;
  readonly message: RegExp;
  readonly cure: RegExp;
}

const OLD = new Date(Date.now() - 3_600_000);

const FAULTS: readonly Fault[] = [
  {
    name: 'a data directory that other users may read',
    plant: (home) => chmodSync(home, 0o755),
    code: 1,
    about: 'permissions',
    message: /may be read by other users \(mode 0755\)/,
    cure: /chmod 0700/,
  },
  {
    name: 'a data directory that other users may write',
    plant: (home) => chmodSync(home, 0o777),
    code: 2,
    about: 'permissions',
    message: /may be written by other users \(mode 0777\)/,
    cure: /chmod 0700/,
  },
  {
    name: 'a database that other users may read',
    plant: (home) => chmodSync(join(home, 'store.db'), 0o644),
    code: 1,
    about: 'permissions',
    message: /other users may read .*store\.db/,
    cure: /chmod 0600 .*store\.db/,
  },
  {
    name: 'settings that cannot be read',
    plant: (home) => writeFileSync(join(home, 'node.json'), '{ "prot": 1 }', { mode: 0o600 }),
    code: 2,
    about: 'settings',
    message: /prot: is not known; did you mean port\?/,
    cure: /correct it/,
  },
  {
    name: 'a queue whose file is wrong',
    plant: (home) => writeFileSync(join(home, 'queues/work.json'), '{ "retries": -1 }', { mode: 0o600 }),
    code: 1,
    about: 'queues',
    message: /queue work: .*retries/,
    cure: /correct the files of work/,
  },
  {
    name: 'a database that was cut',
    plant: (home) => truncateSync(join(home, 'store.db'), 30_000),
    code: 2,
    about: 'database',
    message: /store\.db is damaged/,
    cure: /longhaul restore/,
  },
  {
    name: 'a database that is gone while its log is there',
    plant(home) {
      writeFileSync(join(home, 'store.db-wal'), 'x', { mode: 0o600 });
      renameSync(join(home, 'store.db'), join(home, 'store.db.moved'));
    },
    code: 2,
    about: 'database',
    message: /store\.db is missing, but its write-ahead log exists/,
    cure: /put the file back/,
  },
  {
    name: 'a clock that was set back',
    plant(home) {
      const db = openDatabase(join(home, 'store.db'), 1_000);
      db.exec(`UPDATE meta SET seen_at = ${Date.now() + 86_400_000}`);
      db.close();
    },
    code: 1,
    about: 'clock',
    message: /the clock was set back/,
    cure: /timedatectl/,
  },
  {
    name: 'a folder of a job that is no more',
    plant(home) {
      const folder = join(home, 'jobs/gone/attempts/1');
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      utimesSync(join(home, 'jobs/gone'), OLD, OLD);
    },
    code: 1,
    about: 'orphans',
    message: /1 directories of deleted jobs: .*jobs\/gone/,
    cure: /rm -r/,
  },
  {
    name: 'a process of an attempt that is over',
    async plant(home) {
      const env = { ...process.env, LONGHAUL_ATTEMPT_MARK: join(home, 'jobs/one/attempts/1') };
      const orphan = await spawnGuarded('sleep', ['600'], { env });
      onTestFinished(async () => {
        orphan.signal('SIGKILL');
        await orphan.ended;
      });
    },
    code: 2,
    about: 'orphans',
    message: /processes of ended attempts: \d+ \(job one\)/,
    cure: /kill -9 \d+/,
  },
  {
    name: 'a job whose data has changed',
    plant: (home) => {
      const db = openDatabase(join(home, 'store.db'), 5_000);
      db.exec("UPDATE jobs SET data = data || ' ' WHERE id = 'one'");
      db.close();
    },
    how: { options: ['--deep'] },
    code: 2,
    about: 'jobs',
    message: /job one: its data does not match its checksum/,
    cure: /backup/,
  },
  {
    name: 'an attachment that has lost its bytes',
    plant: (home) => rmSync(blobIn(home)),
    code: 2,
    about: 'attachments',
    message: /1 attachments have no blob: one\//,
    cure: /backup/,
  },
  {
    name: 'an attachment whose bytes have changed',
    plant: (home) => flipBit(blobIn(home)),
    how: { options: ['--scrub'] },
    code: 2,
    about: 'attachments',
    message: /blobs\/[0-9a-f]{2}\/[0-9a-f]{64} is damaged/,
    cure: /backup/,
  },
  {
    name: 'a ballast that was given up',
    plant: (home) => rmSync(join(home, 'ballast')),
    code: 1,
    about: 'disk',
    message: /the ballast is missing/,
    cure: /free disk space/,
  },
  {
    name: 'too few open files',
    plant: () => undefined,
    how: { before: 'ulimit -n 300;' },
    code: 1,
    about: 'limits',
    message: /may have 300 files open/,
    cure: /LimitNOFILE/,
  },
];

test.each(FAULTS.map((fault) => [fault.name, fault] as const))('It finds %s.', async (_name, fault) => {
  const bench = aHome();
  await fault.plant(bench.home);
  const report = await examine(bench.home, fault.how);
  const found = bad(report).filter(({ about }) => about === fault.about);
  expect(found.map(({ message }) => message).join('\n')).toMatch(fault.message);
  expect(found.map(({ cure }) => cure).join('\n')).toMatch(fault.cure);
  expect(report.code).toBe(fault.code);
  expect(bad(report).every(({ cure }) => cure !== '')).toBe(true);
});

test.runIf(isRoot)('It finds a file of another user.', async () => {
  const bench = aHome();
  execFileSync('chown', ['12345', join(bench.home, 'store.db')]);
  const report = await examine(bench.home);
  expect(bad(report)[0]).toMatchObject({ level: 'error', message: expect.stringContaining('12345') as string });
  expect(report.code).toBe(2);
});

test('It finds a node that does not respond.', async () => {
  const bench = aHome();
  const node = await bench.serve();
  process.kill(node.pid, 'SIGSTOP');
  const report = await examine(bench.home);
  process.kill(node.pid, 'SIGCONT');
  const finding = report.findings.find(({ about }) => about === 'node');
  expect(finding).toMatchObject({
    level: 'error',
    message: expect.stringContaining(`process ${node.pid}) does not answer`) as string,
  });
  await node.terminate();
});

test.runIf(hasRedis)('It reports weak settings of a Redis, and a Redis that does not answer.', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const bench = aHome();
  const weak = await examine(bench.home, { options: ['--store', redis.url] });
  expect(bad(weak)).toContainEqual(
    expect.objectContaining({ about: 'store', message: expect.stringContaining('append') as string }),
  );
  expect(messagesOf(weak)).toMatch(/role master, at 127\.0\.0\.1:\d+ \(the server that was named\)/);
  const away = await examine(bench.home, { options: ['--store', 'redis://127.0.0.1:1'] });
  expect(away.code).toBe(2);
  expect(bad(away)).toContainEqual(expect.objectContaining({ about: 'store', level: 'error' }));
});

test.runIf(hasRedis)('It reports the primary that it found through Sentinels.', async () => {
  const fleet = await startSentinels({ replicas: 1 });
  onTestFinished(() => fleet.stop());
  const found = messagesOf(
    await examine(aHome().home, { options: ['--store', `${fleet.address}?durability=replicated:2`] }),
  );
  const { port } = await fleet.primary();
  expect(found).toContain(`role master, at 127.0.0.1:${port} (found by Sentinel)`);
  expect(found).toMatch(/replicas: 1 \(127\.0\.0\.1:\d+ online, lag \d+ s\)/);
  expect(found).toContain('append-only file: on, appendfsync everysec; maxmemory-policy: noeviction');
  expect(found).toContain('durability replicated:2 wants more replicas than the 1 connected');
});

test('It changes nothing, and prints readable lines too.', async () => {
  const bench = aHome();
  const before = readFileSync(join(bench.home, 'store.db'));
  const { code, output } = bench.run('doctor');
  expect(code).toBe(0);
  expect(output).toContain('0 errors, 0 warnings');
  expect(readFileSync(join(bench.home, 'store.db')).equals(before)).toBe(true);
  expect(bench.run('doctor', '--home', join(bench.home, 'nothing'))).toMatchObject({
    code: 2,
    output: expect.stringContaining('is not a data directory') as string,
  });
  expect(existsSync(join(bench.home, 'nothing'))).toBe(false);
  const longhaul = await connect(bench.home);
  await longhaul.close();
});
