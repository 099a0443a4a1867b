/** Store migrations by the command line: real processes, real servers, kill -9 in the middle. */
import { createHash } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import { isRunning } from '../../src/core/job/job.ts';
import type { NewJob, Settlement } from '../../src/core/ports/job-store.ts';
import { MIGRATION_PARTS, type MigrationRow } from '../../src/core/ports/migration.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { Home } from '../../src/node/home.ts';
import { homeAt } from '../../src/node/home.ts';
import { rowsOf } from '../../src/node/migration/compare-stores.ts';
import { openRedisStore } from '../../src/stores/redis/index.ts';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { openRandom, type SeededRandom } from '../faults/seeded-random.ts';
import { type GuardedProcess, spawnGuarded } from '../support/guarded-process.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { testSize } from '../support/test-size.ts';

const JOBS = testSize({ small: 1_500, full: 100_000 });
vi.setConfig({ testTimeout: testSize({ small: 120_000, full: 1_800_000 }), hookTimeout: 60_000 });

describeWithRedis('a store migration', () => {
  let folder: string;
  let server: RedisServer;
  let round = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  // Each try has its own stores.
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'longhaul-migration-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const at = (name: string): string => join(folder, name);
  const redis = (name: string): string => `${server.url}?namespace=${name}-${basename(folder)}`;
  const openAt = (address: string): Promise<Store> =>
    address.startsWith('redis:')
      ? openRedisStore({ url: address })
      : openSqliteStore({ path: join(address, 'store.db'), durability: 'relaxed' });
  async function within<T>(address: string, use: (store: Store) => Promise<T>): Promise<T> {
    const store = await openAt(address);
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }
  const contentOf = (address: string): Promise<readonly MigrationRow[]> => within(address, everythingIn);

  test(`from SQLite to Redis and back with ${JOBS} jobs, killed once per direction, keeps every field`, async () => {
    const random = openRandom();
    await within(at('first'), (store) => addJobs(store, random, JOBS));
    const before = await contentOf(at('first'));
    expect(before.length, `seed ${random.seed}`).toBeGreaterThan(JOBS);
    for (const [from, to] of [
      [at('first'), redis('there')],
      [redis('there'), at('second')],
    ] as const) {
      const killed = await killAtFirstProgress(['migrate', '--from', from, '--to', to]);
      expect(killed).toEqual({ code: null, signal: 'SIGKILL' });
      await within(to, async (store) => {
        expect((await store.migration.standing())?.state, `seed ${random.seed}`).toBe('moving');
        expect((await claimAll(store)).length).toBe(0);
      });
      const moved = await longhaul('migrate', '--from', from, '--to', to, '--json');
      expect(moved).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(moved.stdout)).toMatchObject({
        kind: 'moved',
        left: [],
        parts: MIGRATION_PARTS.map((part) => ({ part })),
      });
      expect(await contentOf(to), `seed ${random.seed}`).toEqual(before);
      await within(from, async (store) => {
        expect(await store.jobs.add([{ id: 'late', queue: 'q', data: '1' }])).toMatchObject([
          { ok: false, refusal: { code: 'store-moving', message: expect.stringContaining('has moved to') } },
        ]);
        expect((await claimAll(store)).length).toBe(0);
      });
    }
    await within(at('second'), async (store) => expect((await claimAll(store)).length).toBeGreaterThan(0));
  });

  test('waits for running jobs, or leaves them and moves them later; and can be reversed', async () => {
    const [here, there] = [at('here'), redis('left')];
    const store = await openAt(here);
    const jobs = ['runs', 'waits'].map((id): NewJob => ({ id, queue: 'q', data: '1' }));
    await store.jobs.add([...jobs, { id: 'child', queue: 'q', data: '1', dependsOn: ['runs'] }]);
    const [running] = (await claimAll(store, 1)) as readonly [Job];
    const refused = await longhaul('migrate', '--from', here, '--to', there);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('1 job runs: runs (q); use --wait 10m to wait for them');
    const left = await longhaul('migrate', '--from', here, '--to', there, '--leave', '--json');
    expect(JSON.parse(left.stdout)).toMatchObject({ kind: 'moved', left: ['runs', 'child'] });
    await within(there, async (target) => {
      expect((await target.jobs.find(['runs', 'child', 'waits'])).map((job) => job?.state)).toEqual([
        undefined,
        undefined,
        'waiting',
      ]);
    });
    const ended = { id: 'runs', token: running.lease?.token ?? 0, kind: 'complete' } as const;
    expect(await store.jobs.settle([ended])).toMatchObject([{ ok: true }]);
    await store.close();
    const rest = await longhaul('migrate', '--from', here, '--to', there, '--json');
    expect(JSON.parse(rest.stdout)).toMatchObject({ kind: 'rest', left: [] });
    expect((await longhaul('migrate', '--from', here, '--to', there)).stdout).toContain('was migrated to');
    const back = await longhaul('migrate', '--from', there, '--to', here, '--json');
    expect(back).toMatchObject({ code: 0 });
    await within(here, async (home) => {
      expect((await home.jobs.find(['runs', 'child'])).map((job) => job?.state)).toEqual(['done', 'waiting']);
      expect((await claimAll(home)).map(({ id }) => id).sort()).toEqual(['child', 'waits']);
    });
  });

  test('that is interrupted by Ctrl-C prints its state and can continue; files are copied, including late ones', async () => {
    round += 1;
    const [here, there] = [at(`waits-${round}`), redis(`waits-${round}`)];
    const [from, to] = [homeAt(here), homeAt(at(`files-${round}`))];
    const args = ['migrate', '--from', here, '--to', there, '--wait', '10m'];
    const all = [...args, '--from-home', from.root, '--to-home', to.root];
    const store = await openAt(here);
    await store.jobs.add([{ id: 'runs', queue: 'q', data: '1' }]);
    const [running] = (await claimAll(store, 1)) as readonly [Job];
    const [early, log] = [await aBlob(from, 'early'), join(from.jobs, 'runs/attempts/1/log')];
    await mkdir(dirname(log), { recursive: true });
    await writeFile(log, 'begun\n');
    const stopped = await actAtProgress(all, 'waiting for 1 job to end', (run) => run.signal('SIGINT'));
    expect(stopped).toMatchObject({ code: 1, stdout: '' });
    expect(stopped.stderr).toContain(
      'migration interrupted (waiting for 1 job to end): run the same command to continue it',
    );
    expect(await store.jobs.add([{ id: 'new', queue: 'q', data: '1' }])).toMatchObject([{ ok: false }]);
    let late = '';
    const moved = await actAtProgress([...all, '--leave'], 'waiting for 1 job to end', async () => {
      late = await aBlob(from, 'late');
      await appendFile(log, 'ended\n');
      await store.jobs.settle([{ id: 'runs', token: running.lease?.token ?? 0, kind: 'complete' }]);
    });
    await store.close();
    expect(moved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('files: 3, 21 B, all hashes match'),
    });
    expect(moved.stderr).toMatch(/copied jobs: 1 of 1, 100 %/);
    for (const blob of [early, late])
      expect(await readFile(join(to.blobs, blob))).toEqual(await readFile(join(from.blobs, blob)));
    expect(await readFile(join(to.jobs, 'runs/attempts/1/log'), 'utf8')).toBe('begun\nended\n');
    await within(there, async (target) => expect(await target.jobs.find(['runs'])).toMatchObject([{ state: 'done' }]));
  });

  test('is rejected for a target that is not empty, has a dry run, and can be abandoned', async () => {
    const [full, other, empty] = [at('full'), redis('other'), redis('empty')];
    for (const address of [full, other])
      await within(address, (store) => store.jobs.add([{ id: 'a', queue: 'q', data: '1' }]));
    const merge = await longhaul('migrate', '--from', full, '--to', other);
    expect(merge).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not empty: a migration needs an empty target'),
    });
    expect(await longhaul('migrate', '--from', full, '--to', full)).toMatchObject({ code: 2 });
    expect(await longhaul('migrate', '--to', full)).toMatchObject({ code: 2 });
    const dry = await longhaul('migrate', '--from', full, '--to', empty, '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).toEqual({
      wouldMove: { records: 0, queues: 1, statistics: 0, jobs: 1, running: 0 },
    });
    expect((await longhaul('migrate', '--from', full, '--reopen')).stderr).toContain('is not being migrated');
    const standing = { move: 'm', role: 'source', other: empty, state: 'moving', at: 1, done: null, left: [] } as const;
    await within(full, (store) => store.migration.stand(standing, null));
    expect((await longhaul('migrate', '--from', full, '--to', other)).stderr).toContain('--reopen');
    expect(await longhaul('migrate', '--from', full, '--reopen')).toMatchObject({ code: 0 });
    await within(full, async (store) => expect((await claimAll(store)).length).toBe(1));
  });
});

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');

async function longhaul(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const run = await spawnGuarded(process.execPath, [CLI, ...args]);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) run[name].on('data', (chunk) => (output[name] += String(chunk)));
  const { code } = await run.ended;
  return { code, ...output };
}

/** Kills the command at its first line of progress, when most is still to be done. */
async function killAtFirstProgress(args: readonly string[]): Promise<unknown> {
  const run = await spawnGuarded(process.execPath, [CLI, ...args]);
  run.stderr.once('data', () => run.signal('SIGKILL'));
  return run.ended;
}

/** Runs the command, and acts when its progress contains the text. */
async function actAtProgress(
  args: readonly string[],
  text: string,
  act: (run: GuardedProcess) => unknown,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const run = await spawnGuarded(process.execPath, [CLI, ...args]);
  const output = { stdout: '', stderr: '' };
  let done: unknown = null;
  run.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  run.stderr.on('data', (chunk) => {
    output.stderr += String(chunk);
    if (done === null && output.stderr.includes(text)) done = act(run) ?? 'done';
  });
  const { code } = await run.ended;
  await done;
  return { code, ...output };
}

/** Writes a blob and returns its path within the blob store. */
async function aBlob({ blobs }: Home, text: string): Promise<string> {
  const hash = createHash('sha256').update(text).digest('hex');
  const place = join(hash.slice(0, 2), hash);
  await mkdir(dirname(join(blobs, place)), { recursive: true });
  await writeFile(join(blobs, place), text);
  return place;
}

async function everythingIn({ migration }: Store): Promise<readonly MigrationRow[]> {
  const rows: MigrationRow[] = [];
  for (const part of MIGRATION_PARTS) for await (const row of rowsOf(migration, part)) rows.push(row);
  return rows;
}

let requests = 0;
async function claimAll(store: Store, limit = 100): Promise<readonly Job[]> {
  requests += 1;
  const request = { worker: 'w', queues: ['q', 'r', 'limited'], limit, requestId: `claim-${requests}` };
  return (await store.jobs.claim(request)).jobs;
}

const BATCH = 250;

/** Adds random jobs of every kind; none of them is left running. */
async function addJobs(store: Store, random: SeededRandom, count: number): Promise<void> {
  const limited = { keys: { by: ['n'], limit: 5 }, throttles: ['t'], retention: { done: { ms: null, count: null } } };
  await store.records.put({ kind: 'queue', key: 'limited', value: JSON.stringify(limited) });
  await store.records.put({ kind: 'throttle', key: 't', value: '{"max":40}' });
  await store.records.put({ kind: 'schedule', key: 's', value: '{"name":"s","rule":"\u001f é \u{1F600}"}' });
  for (let made = 0; made < count; made += BATCH) {
    const jobs = Array.from({ length: BATCH }, (_, place) => aJob(random, made + place));
    await store.jobs.add(jobs);
    await store.records.put({
      kind: 'attachment',
      key: `${made}`,
      value: '{"sha256":"ab"}',
      expiresAt: Date.now() + 1e9,
    });
    const running = (await claimAll(store, 180)).filter(isRunning);
    await store.jobs.settle(running.map((job) => anEnd(random, job.id, job.lease.token)));
    const some = jobs.filter(() => random.next() < 0.05).map(({ id }) => ({ id }));
    await store.jobs.cancel(some.map(({ id }) => ({ id, dependents: 'leave' as const })));
    await store.jobs.change(some.map(({ id }) => ({ id, tags: ['changed'], note: 'why' })));
  }
}

function aJob(random: SeededRandom, number: number): NewJob {
  const chance = random.next();
  const parent = random.between(0, Math.max(0, number - 1));
  return {
    id: `job-${number}`,
    queue: random.pick(['q', 'q', 'r', 'limited']),
    data: JSON.stringify({ n: number % 9, text: 'x\u001f'.repeat(random.pick([1, 10, 900])) }),
    ...(chance < 0.2 && { tags: random.pick([['t'], ['t', 'u\u001e']]), name: `name ${number % 3}` }),
    ...(chance > 0.2 && chance < 0.3 && { priority: random.between(-3, 3), delayMs: random.pick([0, 3_600_000]) }),
    ...(chance > 0.3 && chance < 0.4 && number > 0 && { dependsOn: [`job-${parent}`] }),
    ...(chance > 0.4 && chance < 0.45 && { draft: true, delayMs: 50 }),
    ...(chance > 0.45 && chance < 0.55 && { policy: { retries: 2, throttles: ['t', 'v'], key: `k${number % 4}` } }),
    ...(chance > 0.55 &&
      chance < 0.6 && {
        unique: { key: `u${number}`, scope: 'store' as const, until: 'period' as const, periodMs: 9_000_000 },
      }),
  };
}

function anEnd(random: SeededRandom, id: string, token: number): Settlement {
  const failure = {
    group: random.pick(['boom', 'b\u001fam']),
    message: 'it broke',
    detail: 'd'.repeat(random.pick([1, 1_500])),
  };
  return random.pick<Settlement>([
    { id, token, kind: 'complete', result: '{"r":1}' },
    { id, token, kind: 'complete', result: JSON.stringify('r'.repeat(1_300)) },
    { id, token, kind: 'complete', next: { queue: 'r', delayMs: 0 } },
    { id, token, kind: 'fail', failure, delayMs: 0 },
    { id, token, kind: 'retry', failure, delayMs: 3_600_000 },
    { id, token, kind: 'release', reason: 'drain' },
    { id, token, kind: 'forward', address: 'http://there/q/1' },
    { id, token, kind: 'resend', delayMs: 5_000_000, reason: 'later' },
  ]);
}
