/**
 * Store migration: rows read back as written, a store under migration is closed, and only its migration writes to it.
 */
import { expect, test } from 'vitest';
import type { RunningJob } from '../../src/core/job/job.ts';
import type { IssuedNumbers, MigrationPart, MigrationRow, MigrationState } from '../../src/core/ports/migration.ts';
import { MIGRATION_PARTS } from '../../src/core/ports/migration.ts';
import { GLOBAL_SETTINGS_KEY } from '../../src/core/settings/settings.ts';
import { DAY_MS } from '../../src/core/statistics/histogram.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import type { Open } from './contract.ts';
import { keep } from './steps.ts';
import { aJob, complete, fail, outcomeOf, START, Workbench } from './workbench.ts';

const NONE: IssuedNumbers = { seq: 0, token: 0, version: 0 };
const STANDING: MigrationState = {
  move: 'm-1',
  role: 'target',
  other: 'redis://there',
  state: 'moving',
  at: START,
  done: null,
  left: [],
};

export function migrationContract(open: Open): void {
  test('restores the log of an attempt once, for a job that exists', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a' }), complete);
    const log = { id: 'a', attempt: 1, queue: 'q', at: bench.now, text: 'grün\n' };
    await bench.store.logs.restore(log);
    await bench.store.logs.restore({ ...log, text: 'again\n' });
    const read = () => bench.store.logs.read({ id: 'a', attempt: 1, from: 0 }, { now: bench.now });
    expect(await read()).toMatchObject({ text: 'grün\n', size: 6, generation: 0, dropped: 0 });
  });

  test('The rows of one store are written to another and read back equal, also in pages of one row.', async () => {
    const from = await filledStore();
    const to = (await open()).store.migration;
    await to.stand(STANDING, null);
    for (const part of MIGRATION_PARTS) {
      const rows = await rowsOf(from.store.migration, part, 100);
      const numbers = await from.store.migration.numbers();
      await to.write({ move: 'm-1', part, rows, gone: [], numbers, done: { part, after: null } });
      expect(await rowsOf(to, part, 1)).toEqual(rows);
      expect((await to.standing())?.done).toEqual({ part, after: null });
    }
  });

  test('The rows of a store have all statistics, however short a time ago they were counted.', async () => {
    const benches = [new Workbench(openMemoryStore({ clock: 'caller' })), await open()] as const;
    const expectEqual = async () => {
      for (const part of ['statistics', 'queues'] as const) {
        const [expected, actual] = benches.map(({ store }) => rowsOf(store.migration, part, 1));
        expect(await actual).toEqual(await expected);
      }
    };
    for (const [day, queue] of ['q', 'p', 'q', 'p'].entries()) {
      for (const bench of benches) {
        const job = await bench.running({ id: `j${day}`, queue, tags: ['t'] });
        bench.pass(100);
        await bench.settle(job, complete);
        bench.pass(DAY_MS);
      }
      await expectEqual();
      // Some days are in cells then, the later ones are pending.
      if (day === 1) for (const bench of benches) await bench.jobs.maintain({ limit: 100 });
    }
    const days = await rowsOf(benches[1].store.migration, 'statistics', 100);
    expect(days).toHaveLength(4);
  });

  test('Written statistics replace those of the same day, even if the store has just counted some.', async () => {
    const other = new Workbench(openMemoryStore({ clock: 'caller' }));
    const bench = await open();
    for (const [each, ms] of [
      [other, 70],
      [bench, 5_000],
    ] as const) {
      const job = await each.running({ id: 'a' });
      each.pass(ms);
      await each.settle(job, complete);
    }
    const { migration } = bench.store;
    await migration.stand(STANDING, null);
    for (const part of ['statistics', 'queues'] as const) {
      const rows = await rowsOf(other.store.migration, part, 100);
      await migration.write({ move: 'm-1', part, rows, gone: [], numbers: NONE, done: null });
      expect(await rowsOf(migration, part, 100)).toEqual(rows);
    }
  });

  test('A repeated write changes nothing, and issued numbers are never issued again.', async () => {
    const from = await filledStore();
    const bench = await open();
    const { migration } = bench.store;
    await fill(bench, from);
    const before = await everything(bench);
    await fill(bench, from);
    expect(await everything(bench)).toEqual(before);
    expect(await migration.stand(null, await migration.standing())).toBe(true);
    bench.now = from.now;
    await bench.add({ id: 'new' });
    const [job] = await bench.jobs.find(['new']);
    expect(job?.seq).toBe((await from.store.migration.numbers()).seq + 1);
    const [claimed] = await bench.claim({ limit: 1 });
    expect(claimed?.lease.token).toBeGreaterThan((await from.store.migration.numbers()).token);
  });

  test('Migrated data keep working: claim order, dependencies, keys, groups, tags, counts, statistics.', async () => {
    const from = await filledStore();
    const to = await open();
    await fill(to, from);
    await to.store.migration.stand(null, await to.store.migration.standing());
    to.now = from.now;
    expect(await readAll(to)).toEqual(await readAll(from));
    for (const bench of [from, to]) await liveOn(bench);
    const [a, b] = [await readAll(from), await readAll(to)];
    expect(b).toEqual(a);
  });

  test('A store under migration accepts no changes and gives the reason; running attempts may end.', async () => {
    const bench = await open();
    const { migration } = bench.store;
    await bench.add({ id: 'runs' }, { id: 'waits' }, { id: 'draft', draft: true });
    const [running] = await bench.claim({ limit: 1 });
    const source: MigrationState = { ...STANDING, role: 'source' };
    expect(await migration.stand(source, null)).toBe(true);
    const barred = [
      bench.add({ id: 'new' }),
      bench.jobs.commit(['draft']),
      bench.jobs.cancel([{ id: 'waits' }]),
      bench.jobs.requeue([{ id: 'waits', queue: 'other' }]),
      bench.jobs.move([{ id: 'waits', queue: 'other' }]),
      bench.jobs.change([{ id: 'waits', priority: 3 }]),
      bench.jobs.delete(['waits']),
      bench.jobs.notify([{ id: 'waits', name: 'go', data: '1' }]),
    ];
    for (const answers of await Promise.all(barred))
      expect(answers).toEqual([
        {
          ok: false,
          refusal: {
            code: 'store-moving',
            message: 'the store is moving to redis://there and takes no changes here',
          },
        },
      ]);
    expect(await bench.add({ id: 'waits' })).toMatchObject([{ outcome: 'exists' }]);
    expect(await bench.requestClaim()).toMatchObject({ jobs: [], nextAt: null });
    bench.pass(1_000_000_000);
    expect(await bench.jobs.maintain({ limit: 100 })).toMatchObject({ overtaken: 1, expiredDrafts: 0, pruned: 0 });
    expect(running).toBeDefined();
    expect(await migration.stand(null, source)).toBe(true);
    expect(await bench.requestClaim({ limit: 5 })).toMatchObject({ jobs: [{ id: 'runs' }, { id: 'waits' }] });
  });

  test('Only the target of that very migration is written or cleared, while it is under way.', async () => {
    const bench = await open();
    const { migration } = bench.store;
    const write = (move: string) =>
      migration.write({ move, part: 'queues', rows: [], gone: [], numbers: NONE, done: null });
    await expect(write('m-1')).rejects.toMatchObject({ code: 'refused' });
    await migration.stand(STANDING, null);
    await expect(write('m-2')).rejects.toMatchObject({ code: 'refused' });
    await expect(migration.clear('m-2')).rejects.toMatchObject({ code: 'refused' });
    await write('m-1');
    await migration.stand({ ...STANDING, state: 'over' }, STANDING);
    await expect(write('m-1')).rejects.toMatchObject({ code: 'refused' });
    expect(outcomeOf((await bench.add({ id: 'a' }))[0] as never)).toBe('ok');
    expect(await migration.stand(null, STANDING)).toBe(false);
  });

  test('A cleared target holds nothing of the migration, and can be filled again.', async () => {
    const from = await filledStore();
    const to = await open();
    await fill(to, from);
    const filled = await everything(to);
    await to.store.migration.clear('m-1');
    expect(await everything(to)).toEqual([]);
    await fill(to, from);
    expect(await everything(to)).toEqual(filled);
    expect(filled.length).toBeGreaterThan(20);
  });

  test('A changed row is overwritten, and a deleted record is removed.', async () => {
    const from = await filledStore();
    const to = await open();
    await fill(to, from);
    await from.jobs.change([{ id: 'tagged', tags: ['other'], priority: 4, data: `"${'x'.repeat(1_200)}"` }]);
    await from.jobs.delete(['child']);
    await from.jobs.cancel([{ id: 'keyed' }]);
    await from.records.delete('queue', 'limited');
    const jobs = (await rowsOf(from.store.migration, 'jobs', 100)) as readonly MigrationRow<'jobs'>[];
    const changed = jobs.filter(({ value }) => ['tagged', 'keyed', 'parent'].includes(value.job.id));
    await to.store.migration.write({ move: 'm-1', part: 'jobs', rows: changed, gone: [], numbers: NONE, done: null });
    await to.store.migration.write({
      move: 'm-1',
      part: 'records',
      rows: [],
      gone: ['queue\u001flimited'],
      numbers: NONE,
      done: null,
    });
    const there = (await rowsOf(to.store.migration, 'jobs', 100)) as readonly MigrationRow<'jobs'>[];
    expect(there.filter(({ value }) => value.job.id !== 'child')).toEqual(jobs);
    expect(await rowsOf(to.store.migration, 'records', 100)).toEqual(
      await rowsOf(from.store.migration, 'records', 100),
    );
    await to.store.migration.stand(null, await to.store.migration.standing());
    to.now = from.now;
    expect((await to.jobs.list({ order: 'newest', limit: 9, tag: 'red' })).jobs.map(({ id }) => id)).toEqual(['ends']);
    expect((await to.jobs.list({ order: 'newest', limit: 9, tag: 'other' })).jobs.map(({ id }) => id)).toEqual([
      'tagged',
    ]);
  });
}

/** A store with data of every kind. */
/** Adds a job with steps of all kinds that waits for an event. */
async function addSuspended(bench: Workbench): Promise<void> {
  const job = await bench.running({ id: 'suspended', queue: 'steps' });
  await keep(bench, job, { name: 'cut', result: `"${'r'.repeat(1_100)}"`, attempts: 2 });
  await keep(bench, job, { name: 'fails', status: 'failed', failure: 'it\u001ebroke' });
  await keep(bench, job, { kind: 'event', name: 'go', status: 'waiting', delayMs: 900 });
  bench.pass(10);
  await bench.settle(job, { kind: 'suspend', until: bench.now + 890, event: 'go', children: null });
}

async function filledStore(): Promise<Workbench> {
  const bench = new Workbench(openMemoryStore({ clock: 'caller' }));
  const unique = { key: 'k\u001f', scope: 'queue', until: 'period', periodMs: 99_000 } as const;
  await bench.setQueue('limited', { keys: { by: ['n'], limit: 1 }, throttles: ['t'], rate: { count: 9, ms: 10_000 } });
  await bench.setQueue(GLOBAL_SETTINGS_KEY, { maxCrashes: 4 });
  await bench.setQueue('with-webhooks', { hooks: [{ url: 'https://a.example/', on: ['start', 'done'] }] });
  await bench.records.put({ kind: 'throttle', key: 't', value: '{"max":1}' });
  await bench.records.put({ kind: 'audit', key: 'é\u{1F600}', value: '{"a":"\u001f"}', expiresAt: START + 5 });
  await bench.records.put({ kind: 'audit', key: '\uFFFF', value: '{}' });
  await bench.records.put({ kind: 'node', key: 'n', value: '{}' });
  await bench.add(
    { id: 'ends', name: 'a name', tags: ['red', 'b\u001elue'] },
    { id: 'fails', policy: { retries: 1 }, data: `"${'l'.repeat(1_100)}"` },
    { id: 'relays' },
    { id: 'held' },
  );
  const claims = (await bench.claim({ limit: 4 })) as [RunningJob, RunningJob, RunningJob, RunningJob];
  bench.pass(1_500);
  await bench.jobs.heartbeat([
    {
      id: 'held',
      token: claims[3].lease.token,
      progress: { percent: 40, text: 'half\u001fway' },
      checkpoint: `"${'c'.repeat(1_100)}"`,
    },
  ]);
  await bench.settle(claims[0], { ...complete, result: '{"ok":true}' } as never);
  await bench.settle(
    claims[1],
    fail({ failure: { group: 'boom', message: 'it\u001ebroke', detail: 'd'.repeat(1_100) } }),
  );
  await bench.settle(claims[2], { kind: 'forward', address: 'http://there/q/1' });
  await bench.settle(claims[3], { kind: 'release', reason: 'drain' });
  await addSuspended(bench);
  const [again] = await bench.claim({ limit: 1, queues: ['q'], worker: 'w\u001f2' });
  bench.pass(700);
  if (again !== undefined) await bench.settle(again, fail({ final: true } as never));
  await bench.add(
    { id: 'parent', priority: -2 },
    { id: 'child', dependsOn: ['parent', 'ends'], policy: { onDependencyFailed: 'run' } },
    { id: 'later', delayMs: 50_000 },
    { id: 'tagged', tags: ['red'], priority: 1 },
    { id: 'keyed', unique },
    { id: 'draft', draft: true, delayMs: 77, tags: ['d'] },
    ...['1', '2', '3', '1'].map((n, index) => ({ id: `limited-${index}`, queue: 'limited', data: `{"n":${n}}` })),
    { id: 'gone' },
    { id: 'reported', queue: 'with-webhooks' },
    {
      id: 'reported-too',
      queue: 'with-webhooks',
      policy: { hooks: [{ url: 'https://b.example/', on: ['done', 'failed'] }] },
    },
  );
  await bench.jobs.cancel([{ id: 'gone' }]);
  // The webhook of its start waits for a node; the webhook of its end must come after it there too.
  const [reported] = await bench.claim({ queues: ['with-webhooks'], limit: 1 });
  if (reported !== undefined) await bench.settle(reported, { kind: 'release', reason: 'drain' });
  const [limited] = await bench.claim({ queues: ['limited'], limit: 3 });
  if (limited !== undefined) await bench.settle(limited, complete);
  await bench.jobs.change([{ id: 'tagged', note: 'a note' }]);
  return bench;
}

async function rowsOf(
  migration: Workbench['store']['migration'],
  part: MigrationPart,
  limit: number,
): Promise<readonly MigrationRow[]> {
  const rows: MigrationRow[] = [];
  for (let after: string | null = null; ; ) {
    const page: { rows: readonly MigrationRow[]; next: string | null } = await migration.read(part, after, limit);
    rows.push(...page.rows);
    if (page.next === null) return rows;
    after = page.next;
  }
}

async function everything({ store }: Workbench): Promise<readonly MigrationRow[]> {
  return (await Promise.all(MIGRATION_PARTS.map((part) => rowsOf(store.migration, part, 3)))).flat();
}

async function fill(to: Workbench, from: Workbench): Promise<void> {
  const { migration } = to.store;
  if ((await migration.standing()) === null) await migration.stand(STANDING, null);
  const numbers = await from.store.migration.numbers();
  for (const part of MIGRATION_PARTS) {
    const rows = await rowsOf(from.store.migration, part, 100);
    await migration.write({ move: 'm-1', part, rows, gone: [], numbers, done: null });
  }
}

/** Stores add in different orders, which shows in the last digit of a sum. */
function rounded(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, each: unknown) => (typeof each === 'number' ? each.toPrecision(12) : each)),
  );
}

/** Every read of a store. */
async function readAll(bench: Workbench): Promise<unknown> {
  const { jobs } = bench;
  const list = async (query: object) =>
    (await jobs.list({ order: 'newest', limit: 50, ...query })).jobs.map(({ id }) => id);
  const days = { from: '2025-01-01', to: '2026-01-01' };
  return {
    counts: await jobs.count(),
    all: (await jobs.list({ order: 'newest', limit: 50 })).jobs.map(({ lease: _lease, seq: _seq, ...job }) => job),
    next: await list({ order: 'claim', queue: 'q' }),
    red: await list({ tag: 'red' }),
    named: await list({ name: 'a name' }),
    below: await list({ parent: 'parent' }),
    above: await list({ child: 'child' }),
    boom: await list({ group: 'boom' }),
    storage: await jobs.insight({ kind: 'storage' }),
    tags: await jobs.insight({ kind: 'tags', limit: 9 }),
    failures: await jobs.insight({ kind: 'failures' }),
    statistics: rounded(await jobs.insight({ kind: 'statistics', by: 'queue', ...days })),
    throughput: await jobs.insight({ kind: 'series', span: 'minute' }),
    duplicate: await bench.add({
      ...aJob({ id: 'other' }),
      unique: { key: 'k\u001f', scope: 'queue', until: 'ended', periodMs: 0 },
    }),
  };
}

async function liveOn(bench: Workbench): Promise<void> {
  bench.pass(10);
  await bench.jobs.commit(['draft']);
  for (const queue of ['q', 'limited', 'q', 'with-webhooks', 'hooks', 'hooks']) {
    const claimed = await bench.claim({ queues: [queue], limit: 5 });
    for (const job of claimed) await bench.settle(job, complete);
  }
  bench.pass(60_000);
  await bench.jobs.requeue([{ id: 'fails' }]);
  await bench.jobs.cancel([{ id: 'later' }]);
  await bench.add({ id: 'limited-9', queue: 'limited', data: '{"n":1}' });
}
