/** The cost of a claim while many jobs wait for a slot, counted in calls of the table and rows written. */
import { expect, test } from 'vitest';
import { testSize } from '../../../../test/support/test-size.ts';
import { NO_GAP } from '../../../core/lifecycle/clock.ts';
import { NO_THROTTLE } from '../../../core/limits/bucket.ts';
import { add } from '../../../core/operations/add.ts';
import { settle } from '../../../core/operations/attempt.ts';
import { claim } from '../../../core/operations/claim.ts';
import type { ClaimRequest } from '../../../core/ports/job-store.ts';
import type { Table } from '../../../core/ports/table.ts';
import { settingsOf } from '../../../core/settings/settings.ts';
import { applySchema } from '../engine/schema.ts';
import { firstRow, openDatabase } from '../engine/sqlite-database.ts';
import { SqliteTable } from './sqlite-table.ts';
import { StoreNumbers } from './store-numbers.ts';

const THROTTLED = testSize({ small: 5_000, full: 100_000 });
const moment = { now: 1_000, gap: NO_GAP };

function openTable(): { table: Table; work(): number } {
  const db = openDatabase(':memory:', 0);
  applySchema(db);
  const table = new SqliteTable(db, {
    numbers: new StoreNumbers(db),
    settings: () => settingsOf(undefined),
    throttle: () => ({ ...NO_THROTTLE, max: 1 }),
    closed: () => null,
    emit: () => undefined,
  });
  const changes = db.prepare('SELECT total_changes()');
  let calls = 0;
  const counting = new Proxy<Table>(table, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => {
        const answer: unknown = Reflect.apply(value, target, args);
        calls += 1 + (Array.isArray(answer) ? answer.length : 0);
        return answer;
      };
    },
  });
  return { table: counting, work: () => calls + (firstRow<readonly [number]>(changes)?.[0] ?? 0) };
}

let requests = 0;
const request = (): ClaimRequest => {
  requests += 1;
  return { worker: 'w', queues: ['q'], limit: 1, requestId: `r${requests}`, leaseMs: 10_000 };
};

/** The cost of a claim of a plain job, of a settlement that frees a slot, and of the claim after it. */
function costsWith(throttled: number): readonly number[] {
  const { table, work } = openTable();
  const policy = { throttles: ['t'] };
  add(table, [{ id: 'holder', queue: 'q', data: '1', policy }], moment);
  const [holder] = claim(table, request(), moment).jobs;
  for (let n = 0; n < throttled; n += 1) add(table, [{ id: `t${n}`, queue: 'q', data: '1', policy }], moment);
  while (claim(table, request(), moment).nextAt === moment.now + 1);
  add(table, [{ id: 'plain', queue: 'q', data: '1' }], moment);
  const totals = [work()];
  expect(claim(table, request(), moment).jobs.map(({ id }) => id)).toEqual(['plain']);
  totals.push(work());
  settle(table, [{ id: 'holder', token: holder?.lease?.token ?? 0, kind: 'complete' }], moment);
  totals.push(work());
  expect(claim(table, request(), moment).jobs.map(({ id }) => id)).toEqual(['t0']);
  totals.push(work());
  return totals.slice(1).map((total, place) => total - (totals[place] ?? 0));
}

test(`A claim and a settlement cost the same whether 2 or ${THROTTLED} jobs wait for a slot.`, () => {
  expect(costsWith(THROTTLED)).toEqual(costsWith(2));
});
