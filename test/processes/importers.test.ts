/** Imports from the key layouts of Blueque, qless and Worqr, with a read-only Redis user. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { spawnGuarded } from '../support/guarded-process.ts';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');

const BLUEQUE = [
  'ZADD blueque_queues 1 films 0 mail',
  'LPUSH blueque_pending_tasks_films b-1 b-2',
  'HSET blueque_task_b-1 status pending queue films parameters one created 1700000000.5 updated 1700000001',
  'HSET blueque_task_b-2 status pending queue films parameters two created 1700000002 updated 1700000002',
  'HSET blueque_task_b-3 status complete queue films parameters three result fine created 1700000000 updated 1700000060',
  'HSET blueque_task_b-4 status failed queue mail parameters four error broke created 1700000000 updated 1700000070',
  'HSET blueque_task_b-5 status started queue mail parameters five node host_1 pid 7 created 1700000000 updated 1700000080',
  'HSET blueque_task_b-6 status scheduled queue mail parameters six eta 4000000000 created 1700000000 updated 1700000000',
  'HSET blueque_task_b-7 parameters lost',
];
const QLESS = [
  `HSET ql:j:q-1 jid q-1 klass Job data '{"a":1}' priority 5 tags '["x"]' state waiting queue work remaining 3 time 1700000000`,
  'HSET ql:j:q-2 jid q-2 klass Job data {} priority 0 tags [] state depends queue work remaining 5 time 1700000001',
  'SADD ql:j:q-2-dependencies q-1',
  'SADD ql:j:q-1-dependents q-2',
  `HSET ql:j:q-3 jid q-3 klass Job data {} state complete history '[{"q":"work","put":1700000000}]' time 1700000050`,
  `HSET ql:j:q-4 jid q-4 klass Job data {} state failed queue work failure '{"group":"boom","message":"no","when":1700000060}' time 1700000060`,
  'HSET ql:j:q-5 jid q-5 klass Job data {} state running queue work worker w expires 1700000099 time 1700000000',
  'HSET ql:r:r-1 jid r-1 klass Job data {} queue work interval 60 state recur',
  'HSET ql:s:stats:1700000000:work failed 1',
  `HSET ql:j:q-6 jid q-6 klass Job data {} state complete queue '' throttles '["gpu","ql:q:work"]' time 1700000070`,
  // Packed as by qless: [1700000000, "put", {q: "work"}], [1700000010, "popped", {worker: "w"}].
  ...[
    '\\x93\\xce\\x65\\x53\\xf1\\x00\\xa3put\\x81\\xa1q\\xa4work',
    '\\x93\\xce\\x65\\x53\\xf1\\x0a\\xa6popped\\x81\\xa6worker\\xa1w',
  ].map((row) => `RPUSH ql:j:q-6-history "${row}"`),
  // As JSON by the last version of qless-core: its own answer for a job that was put, popped and completed.
  `HSET ql:j:q-7 jid q-7 klass Job data {} priority 0 tags {} state complete worker '' expires 0 queue '' retries 5 remaining 5 time 1700000080 failure {}`,
  ...['[1700000000,"put",{"q":"work"}]', '[1700000010,"popped",{"worker":"w1"}]', '[1700000080,"done"]'].map(
    (row) => `RPUSH ql:j:q-7-history '${row}'`,
  ),
  'ZADD ql:tracked 1700000000 q-1 1700000000 gone',
  'HSET ql:config heartbeat 120 application mine',
  'HSET ql:th:gpu id gpu maximum 2',
  'ZADD ql:th:gpu-locks 1 q-5',
  'HSET ql:th:ql:q:work id ql:q:work maximum 7',
];
const WORQR = [
  'LPUSH worqr:queues:films w-one w-two',
  'LPUSH worqr:processes:films_abc123 w-three',
  'SET worqr:uniqueTasks:00 1',
];

describeWithRedis('an import', () => {
  let server: RedisServer;
  let folder: string;
  beforeAll(async () => {
    server = await startRedis();
    for (const line of [...BLUEQUE, ...QLESS, ...WORQR]) await ask(server.port, line);
    await ask(server.port, 'ACL SETUSER reader on >secret ~* +@read +@connection +info');
  });
  afterAll(() => server.stop());
  // Each try has its own data directories.
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'longhaul-import-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  let homes = 0;
  const aHome = (): string => `home-${(homes += 1)}`;

  async function importInto(home: string, ...args: readonly string[]) {
    await (await openSqliteStore({ path: join(folder, home, 'store.db') })).close();
    const address = `redis://reader:secret@127.0.0.1:${server.port}`;
    const line = [CLI, 'import', args[0] ?? '', address, ...args.slice(1), '--home', join(folder, home), '--json'];
    const run = await spawnGuarded(process.execPath, line);
    let [stdout, stderr] = ['', ''];
    run.stdout.on('data', (chunk) => (stdout += String(chunk)));
    run.stderr.on('data', (chunk) => (stderr += String(chunk)));
    const { code } = await run.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('secret');
    return JSON.parse(stdout) as { imported: unknown; known: number; besides: unknown; unmapped: readonly string[] };
  }
  const within = async (home: string, ids: readonly string[]) => {
    const store = await openSqliteStore({ path: join(folder, home, 'store.db') });
    try {
      const histories = await Promise.all(ids.map((id) => store.jobs.history(id)));
      const claim = { worker: 'w', queues: ['films', 'work'], limit: 9, requestId: 'r' };
      const schedules = await store.records.list({ kind: 'schedule', limit: 9 });
      const kinds = ['qless', 'throttle', 'tracked'].map((kind) => store.records.list({ kind, limit: 9 }));
      const others = (await Promise.all(kinds)).flat().map(({ kind, key, value }) => [kind, key, value]);
      const { jobs: next } = await store.jobs.claim(claim);
      return { jobs: await store.jobs.find(ids), histories, next, schedules, others };
    } finally {
      await store.close();
    }
  };

  test('from Blueque keeps ids, parameters, order, results and times; a second import adds nothing', async () => {
    const home = aHome();
    const dry = await importInto(home, '--from-blueque', '--dry-run');
    expect(dry.imported).toEqual({ drafts: 0, waiting: 3, done: 1, failed: 1, schedules: 0 });
    const first = await importInto(home, '--from-blueque');
    expect(first).toMatchObject({ imported: { waiting: 3, done: 1, failed: 1, schedules: 0 }, known: 0 });
    expect(first.unmapped).toEqual([
      'task b-7: it has no queue or an unknown status (undefined)',
      'b-5 of mail: it is still running there; import again when it has ended, or use --running',
    ]);
    expect(await importInto(home, '--from-blueque')).toMatchObject({
      imported: { waiting: 0, done: 0, failed: 0, schedules: 0 },
      known: 5,
    });
    const { jobs, histories, next } = await within(home, ['b-3', 'b-4', 'b-6']);
    expect(jobs).toMatchObject([
      {
        queue: 'films',
        state: 'done',
        data: '"three"',
        result: '"fine"',
        createdAt: 1_700_000_000_000,
        endedAt: 1_700_000_060_000,
      },
      { queue: 'mail', state: 'failed', failure: { group: 'failed', message: 'broke' }, endedAt: 1_700_000_070_000 },
      { queue: 'mail', state: 'waiting', runAt: 4_000_000_000_000 },
    ]);
    expect(histories[0]?.at(-1)).toMatchObject({
      event: 'completed',
      note: expect.stringContaining('imported from Blueque at redis://'),
    });
    expect(next.map(({ id }) => id)).toEqual(['b-1', 'b-2']);
  });

  test('from qless inverts priorities, keeps dependencies, and turns recurring jobs into schedules', async () => {
    const home = aHome();
    const { imported, besides, unmapped } = await importInto(home, '--from-qless');
    expect(besides).toEqual({ tracked: 1, throttles: 1, records: 1 });
    expect(imported).toEqual({ drafts: 0, waiting: 2, done: 3, failed: 1, schedules: 1 });
    expect(unmapped).toEqual([
      '1 keys of statistics: Longhaul collects its own',
      expect.stringContaining('q-5 of work: it is still running there'),
    ]);
    const { jobs, next, schedules, others } = await within(home, ['q-1', 'q-2', 'q-3', 'q-4', 'q-6', 'q-7']);
    expect(jobs).toMatchObject([
      { name: 'Job', data: '{"a":1}', priority: -5, tags: ['x'], policy: { retries: 3 }, dependents: 1 },
      { state: 'waiting', parents: { of: 1, open: 1, bad: 0 } },
      { state: 'done', queue: 'work' },
      { state: 'failed', failure: { group: 'boom', message: 'no' } },
      { state: 'done', queue: 'work', attempt: 1, createdAt: 1_700_000_000_000, policy: { throttles: ['gpu'] } },
      { state: 'done', queue: 'work', attempt: 1, createdAt: 1_700_000_000_000, endedAt: 1_700_000_080_000 },
    ]);
    expect(others).toEqual([
      ['qless', 'config', '{"heartbeat":120,"application":"mine","work-max-concurrency":7}'],
      ['throttle', 'gpu', '{"max":2}'],
      ['tracked', 'q-1', '{}'],
    ]);
    expect(await importInto(home, '--from-qless')).toMatchObject({
      known: 6,
      besides: { tracked: 0, throttles: 0, records: 0 },
    });
    expect(next.map(({ id }) => id)).toEqual(['q-1']);
    expect(schedules.map(({ key }) => key)).toEqual(['r-1']);
  });

  test('from Worqr keeps the order of tasks, and imports running ones with --running', async () => {
    const home = aHome();
    const { imported, unmapped } = await importInto(home, '--from-worqr', '--running');
    expect(imported).toEqual({ drafts: 0, waiting: 3, done: 0, failed: 0, schedules: 0 });
    expect(unmapped).toEqual(['1 locks of unique tasks: use a unique key of the job instead']);
    const { next } = await within(home, []);
    expect(next.map(({ data }) => data)).toEqual(['"w-one"', '"w-two"', '"w-three"']);
    expect(await importInto(home, '--from-worqr', '--running')).toMatchObject({ known: 3 });
  });
});
