import { describe, expect, it, onTestFinished } from 'vitest';
import { LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';
import { SCHEDULE_RECORD } from '../core/schedules/schedule.ts';
import { openMemoryStore } from '../stores/memory/open-memory-store.ts';
import { setSchedule } from './manage-schedules.ts';
import { findSchedule } from './schedule-records.ts';
import { startScheduleRunner } from './schedule-runner.ts';
import { StoreTime } from './store-time.ts';

const START = Date.parse('2026-03-01T00:00:30Z');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A store whose clock a test moves, and a machine whose clock may differ. */
function aWorld() {
  const world = { storeNow: START, machineNow: START, monotonic: 0 };
  const store = openMemoryStore({ now: () => world.storeNow });
  const clocks = { now: () => world.machineNow, monotonic: () => world.monotonic };
  const pass = (ms: number): void => {
    world.storeNow += ms;
    world.machineNow += ms;
    world.monotonic += ms;
  };
  return { world, store, clocks, pass };
}

/** The same store, with `work` called before each write of a record. */
function beforePuts(store: Store, work: () => Promise<void>): Store {
  const { records } = store;
  return {
    ...store,
    jobs: store.jobs,
    records: {
      get: (kind, key) => records.get(kind, key),
      list: (query) => records.list(query),
      delete: (kind, key, options) => records.delete(kind, key, options),
      put: async (record) => {
        await work();
        return records.put(record);
      },
    },
  };
}

describe('the time of the store', () => {
  it('is known to a machine whose clock is wrong', async () => {
    const { world, store, clocks, pass } = aWorld();
    world.machineNow -= DAY_MS;
    const time = new StoreTime(store.records, clocks);
    expect(await time.now()).toBe(START);
    pass(30_000);
    expect(await time.now()).toBe(START + 30_000);
  });

  it('is measured again when the clock of the machine was set, or the machine slept', async () => {
    const { world, store, clocks, pass } = aWorld();
    const time = new StoreTime(store.records, clocks);
    await time.now();
    world.machineNow += 365 * DAY_MS;
    expect(await time.now()).toBe(START);
    world.machineNow -= 700 * DAY_MS;
    expect(await time.now()).toBe(START);
    // Asleep: both wall clocks continue, the monotonic one stands still.
    pass(8 * 3_600_000);
    world.monotonic -= 8 * 3_600_000;
    expect(await time.now()).toBe(START + 8 * 3_600_000);
  });

  it('is measured every minute, and not before', async () => {
    const { store, clocks, pass } = aWorld();
    let puts = 0;
    const counting = beforePuts(store, async () => void (puts += 1));
    const time = new StoreTime(counting.records, clocks);
    for (let second = 0; second < 130; second++) {
      await time.now();
      pass(1_000);
    }
    expect(puts).toBe(3);
  });
});

describe('a schedule runner', () => {
  function aRunner(store: Store, clocks: ReturnType<typeof aWorld>['clocks']) {
    const troubles: string[] = [];
    const runner = startScheduleRunner({ store, clocks, onTrouble: (what) => void troubles.push(what) });
    onTestFinished(() => runner.stop());
    return { runner, troubles };
  }
  const ids = async (store: Store) => (await store.jobs.list({ order: 'newest', limit: 100 })).jobs.map(({ id }) => id);

  it('fires by the clock of the store, whatever the clock of the machine', async () => {
    const { world, store, clocks, pass } = aWorld();
    await setSchedule(store, 's', { cron: '* * * * *', queue: 'q' });
    world.machineNow += 30 * DAY_MS;
    const { runner } = aRunner(store, clocks);
    runner.wake();
    pass(MINUTE_MS);
    runner.wake();
    await expect.poll(() => ids(store)).toEqual(['s@2026-03-01T00:01:00Z']);
  });

  it('keeps pending runs during a store migration, for the runner of the new store', async () => {
    const { store, clocks, pass } = aWorld();
    await setSchedule(store, 's', { cron: '* * * * *', queue: 'q' });
    const standing = {
      move: 'm',
      other: 'there',
      role: 'source',
      state: 'moving',
      at: 0,
      done: null,
      left: [],
    } as const;
    await store.migration.stand(standing, null);
    const { runner } = aRunner(store, clocks);
    pass(MINUTE_MS);
    runner.wake();
    await expect.poll(async () => (await findSchedule(store.records, 's'))?.schedule.pending.length).toBe(1);
    expect(await ids(store)).toEqual([]);
    await store.migration.stand(null, standing);
    pass(10_000);
    runner.wake();
    await expect.poll(() => ids(store)).toEqual(['s@2026-03-01T00:01:00Z']);
    expect((await findSchedule(store.records, 's'))?.schedule.pending).toEqual([]);
  });

  it('fires the others when a record is no schedule, and reports it once', async () => {
    const { store, clocks, pass } = aWorld();
    await setSchedule(store, 's', { cron: '* * * * *', queue: 'q', overlap: 'allow' });
    await store.records.put({ kind: SCHEDULE_RECORD, key: 'bad', value: '{"name":"bad"}' });
    await store.records.put({ kind: SCHEDULE_RECORD, key: 'worse', value: 'no JSON' });
    const { runner, troubles } = aRunner(store, clocks);
    for (let minutes = 1; minutes <= 2; minutes++) {
      pass(MINUTE_MS);
      runner.wake();
      await expect.poll(() => ids(store)).toHaveLength(minutes);
    }
    expect(troubles).toEqual(['bad', 'worse'].map((name) => `the record of schedule ${name} cannot be read`));
  });

  it('leaves schedules to others without the right, and continues after an outage of the store', async () => {
    const { store, clocks, pass } = aWorld();
    await setSchedule(store, 's', { cron: '* * * * *', queue: 'q' });
    let [trouble, puts]: [LonghaulError | null, number] = [new LonghaulError('store-unavailable', 'away'), 0];
    const troubled = beforePuts(store, async () => {
      puts += 1;
      if (trouble !== null) throw trouble;
    });
    const first = aRunner(troubled, clocks);
    await expect.poll(() => first.troubles).toEqual(['schedules could not be checked']);
    trouble = null;
    pass(MINUTE_MS);
    first.runner.wake();
    await expect.poll(() => ids(store)).toHaveLength(1);
    await first.runner.stop();
    trouble = new LonghaulError('refused', 'needs the role operate');
    const second = aRunner(troubled, clocks);
    await expect.poll(() => second.troubles).toEqual(['schedules could not be checked']);
    const asked = puts;
    second.runner.wake();
    await second.runner.stop();
    expect(puts).toBe(asked);
  });
});
