/** Rows that are written together equal those that are written one by one. */
import { expect, it } from 'vitest';
import { MAX_HISTORY } from '../../core/job/history.ts';
import { NO_GAP } from '../../core/lifecycle/clock.ts';
import { NO_THROTTLE } from '../../core/limits/bucket.ts';
import { add } from '../../core/operations/add.ts';
import { settle } from '../../core/operations/attempt.ts';
import { claim } from '../../core/operations/claim.ts';
import type { NewJob, Settlement } from '../../core/ports/job-store.ts';
import { settingsOf } from '../../core/settings/settings.ts';
import { applySchema } from './engine/schema.ts';
import { allRows, openDatabase } from './engine/sqlite-database.ts';
import { sumOf } from './tables/job-row.ts';
import { SqliteTable } from './tables/sqlite-table.ts';
import { StoreNumbers } from './tables/store-numbers.ts';

const COUNT = 75;
const at = (now: number) => ({ now, gap: NO_GAP });
const aJob = (n: number): NewJob => ({ id: `job-${n}`, queue: 'q', data: `{"n":${n}}` });

function openTable() {
  const db = openDatabase(':memory:', 0);
  applySchema(db);
  const table = new SqliteTable(db, {
    numbers: new StoreNumbers(db),
    settings: () => settingsOf(undefined),
    throttle: () => NO_THROTTLE,
    closed: () => null,
    emit: () => undefined,
  });
  const stored = () => {
    table.flush();
    return allRows(db.prepare('SELECT * FROM jobs ORDER BY seq'));
  };
  return { db, table, stored };
}

type Opened = ReturnType<typeof openTable>;
const jobs = (priorities: readonly number[]) => priorities.map((priority, n) => ({ ...aJob(n), priority }));
const addAll = ({ table }: Opened, inputs: readonly NewJob[], now = 1_000) =>
  table.presumingNew(() => add(table, inputs, at(now)));
let requests = 0;
const claimAll = ({ table }: Opened, limit: number, now: number) => {
  requests += 1;
  return claim(table, { worker: 'w"1', queues: ['q'], limit, requestId: `r${requests}`, leaseMs: 9_000 }, at(now)).jobs;
};
const completion = (job: { id: string; lease: { token: number } | null }): Settlement => ({
  id: job.id,
  token: job.lease?.token ?? 0,
  kind: 'complete',
});

it.each([
  ['in the order of their numbers', () => 0],
  ['in another order', (n: number) => n % 3],
])('writes the same rows for many jobs as for one at a time, claimed %s', (_, priorityOf) => {
  const inputs = jobs(Array.from({ length: COUNT }, (_each, n) => priorityOf(n)));
  const [together, single] = [openTable(), openTable()];
  addAll(together, inputs);
  for (const input of inputs) {
    addAll(single, [input]);
    single.table.flush();
  }
  expect(together.stored()).toEqual(single.stored());
  const claimed = claimAll(together, COUNT, 2_000);
  expect(claimed).toEqual(inputs.flatMap(() => claimAll(single, 1, 2_000)));
  expect(together.stored()).toEqual(single.stored());
  settle(together.table, claimed.map(completion), at(3_500));
  for (const job of claimed) {
    settle(single.table, [completion(job)], at(3_500));
    single.table.flush();
  }
  expect(together.stored()).toEqual(single.stored());
  const [first] = claimed;
  expect(together.table.rows(first?.id ?? '').map(({ at: time, token }) => [time, token])).toEqual([
    [1_000, null],
    [2_000, first?.lease?.token],
    [3_500, first?.lease?.token],
  ]);
});

it('keeps results that differ', () => {
  const opened = openTable();
  addAll(opened, jobs([0, 0, 0, 0]));
  const claimed = claimAll(opened, 4, 2_000);
  settle(
    opened.table,
    claimed.map((job, n) => ({ ...completion(job), kind: 'complete' as const, result: `${n % 3}` })),
    at(3_000),
  );
  expect(claimed.map(({ id }) => opened.table.get(id)?.result)).toEqual(['0', '1', '2', '0']);
});

it('cuts the one history among them that is full', () => {
  const opened = openTable();
  addAll(opened, jobs([0, 0, 0, 0]));
  opened.table.flush();
  const row = ',[1,1,2,1,1,"w",null]';
  opened.db.exec(
    `UPDATE jobs SET history = '${row.repeat(MAX_HISTORY - 1)}', history_rows = ${MAX_HISTORY} WHERE id = 'job-2'`,
  );
  const claimed = claimAll(opened, 4, 2_000);
  expect(claimed.map(({ id }) => opened.table.rows(id).length)).toEqual([2, 2, MAX_HISTORY, 2]);
  expect(claimed.map(({ id }) => opened.table.rows(id).at(-1)?.at)).toEqual([2_000, 2_000, 2_000, 2_000]);
  const tokens = claimed.map(({ lease }) => lease?.token);
  expect(claimed.map(({ id }) => opened.table.rows(id).at(-1)?.token)).toEqual(tokens);
  expect(allRows(opened.db.prepare('SELECT token, history_rows FROM jobs ORDER BY seq'))).toEqual(
    tokens.map((token, n) => [token, n === 2 ? MAX_HISTORY : 2]),
  );
});

it('completes jobs whose leases differ, and jobs whose results differ', () => {
  const opened = openTable();
  addAll(opened, jobs(Array.from({ length: 8 }, () => 0)));
  const claimed = [...claimAll(opened, 4, 2_000), ...claimAll(opened, 4, 2_500)];
  const settlements = claimed.map((job, n) => ({ ...completion(job), kind: 'complete' as const, result: `${n >> 1}` }));
  expect(settle(opened.table, settlements, at(3_000))).toEqual(claimed.map(() => ({ ok: true, state: 'done' })));
  opened.table.flush();
  expect(allRows(opened.db.prepare('SELECT state, result, result_sum, lease_until FROM jobs ORDER BY seq'))).toEqual(
    settlements.map(({ result }) => ['done', result, sumOf(result), null]),
  );
  const ended = claimed.map(({ id }) => opened.table.rows(id).at(-1));
  expect(ended.map((row) => [row?.event, row?.token])).toEqual(claimed.map(({ lease }) => ['completed', lease?.token]));
});

it('finds a job whose row is not written yet', () => {
  const opened = openTable();
  addAll(opened, jobs([0, 0, 0]));
  expect(opened.table.get('job-1')?.data).toBe('{"n":1}');
  addAll(opened, [{ ...aJob(9), priority: 0 }]);
  expect(claimAll(opened, 10, 2_000).map(({ id }) => id)).toEqual(['job-0', 'job-1', 'job-2', 'job-9']);
});

const failure = { group: 'Error', message: 'no "route"', detail: 'Error: no "route"\n    at here' };
const policy = { retries: 5 };
type Given = ReturnType<typeof claimAll>[number];
const ownerOf = ({ id, lease }: Given) => ({ id, token: lease?.token ?? 0 });
const retry = (job: Given, more: Partial<Extract<Settlement, { kind: 'retry' }>> = {}): Settlement => {
  return { kind: 'retry', failure, delayMs: 500, ...more, ...ownerOf(job) };
};

it.each<{ what: string; settlement: (job: Given, n: number) => Settlement; runAt?: (n: number) => number }>([
  { what: 'that are alike', settlement: (job) => retry(job) },
  {
    what: 'with different failures',
    settlement: (job, n) => retry(job, { failure: { ...failure, detail: `${n % 2}` } }),
  },
  { what: 'with different delays', settlement: (job, n) => retry(job, { delayMs: 10 * (n >> 2) }) },
  {
    what: 'some of which get the run time that they had',
    settlement: (job) => retry(job, { delayMs: 0 }),
    runAt: (n) => (n % 3 === 0 ? 3_500 : 1_000),
  },
  { what: 'beside completions', settlement: (job, n) => (n % 4 === 0 ? completion(job) : retry(job)) },
  {
    what: 'beside failures',
    settlement: (job, n) => ({ ...ownerOf(job), kind: 'fail', failure, delayMs: 500, final: n % 4 === 1 }),
  },
])('writes the same rows for many retries as for one at a time, for retries $what', ({ settlement, runAt }) => {
  const inputs = Array.from(
    { length: 20 },
    (_, n): NewJob => ({ ...aJob(n), policy, ...(runAt && { runAt: runAt(n) }) }),
  );
  const [together, single] = [openTable(), openTable()];
  for (const opened of [together, single]) addAll(opened, inputs);
  // As late as the settlement: some jobs are due only then.
  const claimed = claimAll(together, inputs.length, 3_500);
  expect(inputs.flatMap(() => claimAll(single, 1, 3_500))).toEqual(claimed);
  const settleOneByOne = (settlements: readonly Settlement[], now: number) => {
    for (const each of settlements) {
      settle(single.table, [each], at(now));
      single.table.flush();
    }
  };
  // The last first: those that were due last come before the others.
  const settlements = claimed.map(settlement).toReversed();
  settle(together.table, settlements, at(3_500));
  settleOneByOne(settlements, 3_500);
  expect(together.stored()).toEqual(single.stored());
  const again = claimAll(together, inputs.length, 9_000);
  const failures = new Map(settlements.map((each) => [each.id, 'failure' in each ? each.failure : null]));
  for (const job of again) expect(job.failure).toEqual(failures.get(job.id));
  expect(inputs.flatMap(() => claimAll(single, 1, 9_000))).toEqual(again);
  settle(together.table, again.map(completion), at(9_500));
  settleOneByOne(again.map(completion), 9_500);
  expect(together.stored()).toEqual(single.stored());
});

it('keeps the fields of jobs that are read one after another apart', () => {
  const opened = openTable();
  const inputs = ['a', 'a', 'b', 'a'].map(
    (tag, n): NewJob => ({ ...aJob(n), tags: [tag], policy: { retries: n >> 1 } }),
  );
  addAll(opened, inputs);
  opened.table.flush();
  const claimed = claimAll(opened, inputs.length, 2_000);
  expect(claimed.map(({ tags, policy: own }) => [tags, own])).toEqual(
    inputs.map(({ tags, policy: own }) => [tags, own]),
  );
  for (const { tags } of claimed) expect(() => (tags as string[]).push('other')).toThrow(TypeError);
});
