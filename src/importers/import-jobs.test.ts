import { expect, it } from 'vitest';
import type { Store } from '../core/ports/store.ts';
import { openMemoryStore } from '../stores/memory/open-memory-store.ts';
import type { ForeignJob, ForeignStore } from './foreign-job.ts';
import { DEFAULT_JOB, ONLY_JOBS } from './foreign-job.ts';
import { importJobs } from './import-jobs.ts';

const someJobs = (state: ForeignJob['state'], count: number): readonly ForeignJob[] =>
  Array.from({ length: count }, (_, number) => ({
    ...DEFAULT_JOB,
    id: `${state}-${number}`,
    queue: 'q',
    data: '1',
    state,
    ...(state === 'done' && { endedAt: 5, attempt: 1 }),
  }));

const FOUND: ForeignStore = { jobs: [...someJobs('done', 450), ...someJobs('waiting', 3)], ...ONLY_JOBS, unmapped: [] };
const into = (store: Store) =>
  importJobs(FOUND, { store, origin: 'there', takesRunning: false, isDryRun: false, now: 9, importId: 'import-1' });

/** Returns a store that rejects every call from the nth write on, as if the process were killed then. */
function killedAt(store: Store, nth: number): Store {
  let writes = 0;
  const fail = (): never => {
    throw new Error('killed');
  };
  const write: Store['migration']['write'] = (batch) => ((writes += 1) >= nth ? fail() : store.migration.write(batch));
  const stand: Store['migration']['stand'] = (next, before) =>
    writes >= nth ? fail() : store.migration.stand(next, before);
  const add: Store['jobs']['add'] = (jobs) => (writes >= nth ? fail() : store.jobs.add(jobs));
  return { ...store, jobs: { ...store.jobs, add }, migration: { ...store.migration, write, stand } };
}

// The import makes four writes: the queues, then three batches of ended jobs.
it.each([1, 2, 3, 4])('completes an import that was killed at write %i', async (nth) => {
  const store = openMemoryStore();
  await expect(into(killedAt(store, nth))).rejects.toThrow('killed');
  expect((await store.migration.standing())?.role).toBe('import');
  const { imported, known } = await into(store);
  expect(imported.done + known).toBe(450);
  expect(await store.migration.standing()).toBeNull();
  expect(await store.jobs.count(['q'])).toMatchObject([{ done: 450, waiting: 3 }]);
});

it('reopens a store that an import killed after its last write left closed', async () => {
  const store = openMemoryStore();
  await into(store);
  await store.jobs.delete(['waiting-0']);
  const standing = {
    move: 'import-0',
    role: 'import',
    other: 'there',
    state: 'moving',
    at: 1,
    done: null,
    left: [],
  } as const;
  await store.migration.stand(standing, null);
  expect((await into(store)).imported).toMatchObject({ waiting: 1, done: 0 });
  expect(await store.jobs.find(['waiting-0'])).toMatchObject([{ state: 'waiting' }]);
  expect(await store.migration.standing()).toBeNull();
});
