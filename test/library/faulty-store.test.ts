/** The store with faults of the testing kit. */
import { expect, test } from 'vitest';
import type { LonghaulError } from '../../src/core/ports/errors.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { connectForTests, connectWithFaults, faultyStore } from '../../src/testing/index.ts';

/** Adds jobs one after another. Returns the code of each error, or `ok`. */
async function addMany(store: ReturnType<typeof faultyStore>, count: number): Promise<string[]> {
  const codes: string[] = [];
  for (let number = 1; number <= count; number += 1) {
    const added = store.jobs.add([{ id: `job-${number}`, queue: 'q', data: '1' }] as never);
    codes.push(await added.then(() => 'ok').catch((error: LonghaulError) => error.code));
  }
  return codes;
}

test('An error leaves nothing in the store, a lost reply leaves the whole write, and no other call is changed.', async () => {
  const memory = openMemoryStore();
  const store = faultyStore(memory, { seed: 7, errors: 0.3, lostReplies: 0.3, delays: 0.1, maxDelay: 1 });
  const codes = await addMany(store, 60);
  const found = await memory.jobs.find(codes.map((_, index) => `job-${index + 1}`));
  expect(found.map((job) => (job === null ? 'absent' : 'stored'))).toEqual(
    codes.map((code) => (code === 'store-unavailable' ? 'absent' : 'stored')),
  );
  expect(new Set(codes)).toEqual(new Set(['ok', 'store-unavailable', 'outcome-unknown']));
  const faults = store.faults.filter(({ fault }) => fault !== 'delay').map(({ number }) => number);
  expect(faults).toEqual(codes.flatMap((code, index) => (code === 'ok' ? [] : [index + 1])));
});

test('The seed decides which calls are hit, whatever other calls are made, and every injected error names it.', async () => {
  const options = { seed: 11, errors: 0.2, lostReplies: 0.2, delays: 0 };
  const alone = await addMany(faultyStore(openMemoryStore(), options), 40);
  const store = faultyStore(openMemoryStore(), options);
  await Promise.allSettled(Array.from({ length: 9 }, () => store.jobs.count()));
  expect(await addMany(store, 40)).toEqual(alone);
  expect(await addMany(faultyStore(openMemoryStore(), { ...options, seed: 12 }), 40)).not.toEqual(alone);
  const always = faultyStore(openMemoryStore(), { seed: 11, errors: 1, lostReplies: 0, delays: 0 });
  await expect(always.jobs.count()).rejects.toThrow('call 1 of count did not reach the store (seed 11)');
});

test('A read whose reply is lost is unavailable; only the named calls are hit; healing ends the faults.', async () => {
  const options = { errors: 0, lostReplies: 1, delays: 0, calls: ['find', 'records.put'] };
  const store = faultyStore(openMemoryStore(), options);
  await expect(store.jobs.find(['x'])).rejects.toMatchObject({ code: 'store-unavailable' });
  const put = { kind: 'k', key: 'a', value: '1' };
  await expect(store.records.put(put)).rejects.toMatchObject({ code: 'outcome-unknown' });
  expect(await store.records.get('k', 'a')).toMatchObject({ value: '1' });
  store.heal();
  expect(await store.jobs.find(['x'])).toEqual([null]);
  expect(store.faults.map(({ call }) => call)).toEqual(['find', 'records.put']);
});

test('Bad options are refused.', () => {
  const store = openMemoryStore();
  expect(() => faultyStore(store, { errors: 2 })).toThrow('errors: must be a number from 0 to 1');
  expect(() => faultyStore(store, { errors: 0.9, delays: 0.9 })).toThrow('at most 1 together');
  expect(() => faultyStore(store, { calls: ['ad'] })).toThrow('"ad" is no call of a store');
});

test('Workers finish every job through a store with faults, and each step is kept once.', async () => {
  const test = connectForTests();
  const { longhaul, store } = connectWithFaults(test, {
    seed: 5,
    errors: 0.1,
    lostReplies: 0.1,
    calls: ['claim', 'settle', 'keepSteps'],
  });
  const ran = new Map<string, number>();
  longhaul.queue<number>('q').work(
    async (job) => {
      await job.step('one', () => void ran.set(job.id, (ran.get(job.id) ?? 0) + 1));
    },
    { concurrency: 10 },
  );
  const jobs = await test.longhaul.queue<number>('q').addAll(Array.from({ length: 40 }, (_, number) => number));
  await Promise.all(jobs.map((job) => job.finished()));
  expect(store.faults.length).toBeGreaterThan(0);
  expect([...ran.values()]).toEqual(Array(40).fill(1));
  await longhaul.close();
  expect((await test.longhaul.queue('q').count()).done).toBe(40);
  await test.longhaul.close();
});
