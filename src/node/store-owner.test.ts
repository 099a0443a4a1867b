import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RunningJob } from '../core/job/job.ts';
import type { Store } from '../core/ports/store.ts';
import { openMemoryStore } from '../stores/memory/open-memory-store.ts';
import { noteStart } from './attempts/attempt-record.ts';
import { attemptFolder, type Home, homeAt } from './home.ts';
import { thisProcess } from './node-lock.ts';
import { AttemptRegistry, runningFolder } from './scripts/attempt-registry.ts';
import { OWNER_RECORD, ownStore } from './store-owner.ts';

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-owner-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const aHome = (): Home => homeAt(aFolder());

const own = (store: Store, home: Home, file: string | null = null) => ownStore({ store, home, file });

const NODE_RUNS = /belongs to the data directory .* \(pid \d+\) runs/;

/** As if the process of the owner had been killed. */
async function killOwner({ records }: Store): Promise<void> {
  const record = await records.get(OWNER_RECORD, 'node');
  const owner = JSON.parse(record?.value ?? '') as object;
  const holder = { ...thisProcess(), start: 1 };
  await records.put({ kind: OWNER_RECORD, key: 'node', value: JSON.stringify({ ...owner, holder }) });
}

/** An attempt that this data directory began and has not settled. */
async function beginAttempt({ jobs }: Store, home: Home): Promise<RunningJob> {
  await jobs.add([{ id: 'a', queue: 'mail', data: 'null' }]);
  const claimed = await jobs.claim({ worker: 'w', queues: ['mail'], limit: 1, requestId: '1' });
  const job = claimed.jobs[0] as RunningJob;
  const folder = attemptFolder(home, job.id, job.attempt);
  mkdirSync(folder, { recursive: true });
  mkdirSync(runningFolder(home));
  noteStart(folder, job, { script: '/mail', realScript: '/mail', argv: ['/mail'] });
  new AttemptRegistry(runningFolder(home)).put(job, folder);
  return job;
}

it('refuses a second data directory while the node of the first runs, and takes it after that', async () => {
  const [store, first, second] = [openMemoryStore(), aHome(), aHome()];
  const owner = await own(store, first);
  await expect(own(store, second)).rejects.toThrow(NODE_RUNS);
  await owner.release();
  await own(store, second);
  await expect(own(store, first)).rejects.toThrow(NODE_RUNS);
});

it('takes the store of a node that was killed', async () => {
  const [store, first, second] = [openMemoryStore(), aHome(), aHome()];
  await own(store, first);
  await killOwner(store);
  await own(store, second);
});

it('lets the next node of the same data directory in', async () => {
  const [store, home] = [openMemoryStore(), aHome()];
  await own(store, home);
  await own(store, home);
});

it('refuses a second data directory until the attempts of the first are settled', async () => {
  const [store, first, second] = [openMemoryStore(), aHome(), aHome()];
  const owner = await own(store, first);
  const { id, lease } = await beginAttempt(store, first);
  await owner.release();
  await expect(own(store, second)).rejects.toThrow(`1 attempt of the data directory ${first.root} is not settled`);
  await own(store, first).then((again) => again.release());
  await store.jobs.settle([{ id, token: lease.token, kind: 'complete' }]);
  await own(store, second);
});

it('lets one of several data directories in that start at once', async () => {
  const store = openMemoryStore();
  const answers = await Promise.allSettled([aHome(), aHome(), aHome()].map((home) => own(store, home)));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

it('gives back only what it still owns', async () => {
  const [store, first, second] = [openMemoryStore(), aHome(), aHome()];
  const owner = await own(store, first);
  await killOwner(store);
  await own(store, second);
  await owner.release();
  await expect(own(store, first)).rejects.toThrow(NODE_RUNS);
});

it('lets a node work on a copy of a store whose own node runs', async () => {
  const [store, folder] = [openMemoryStore(), aFolder()];
  for (const name of ['store.db', 'copy.db']) writeFileSync(join(folder, name), '');
  await own(store, aHome(), join(folder, 'store.db'));
  await expect(own(store, aHome(), join(folder, 'store.db'))).rejects.toThrow(NODE_RUNS);
  await own(store, aHome(), join(folder, 'copy.db'));
});
