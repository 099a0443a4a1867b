/**
 * A disk whose reads fail for moments under a SQLite store (errors of the system call, by LD_PRELOAD): no job fails
 * because of it, and none runs twice.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { startFixture } from '../support/processes.ts';
import { aFolder } from './fault-environment.ts';

const JOBS = 200;
const BROKEN_MS = 15;
const WHOLE_MS = 40;
const source = join(import.meta.dirname, '..', 'fixtures', 'read-errors.c');
const canCompile = spawnSync('cc', ['--version']).status === 0;

// The library for LD_PRELOAD needs a compiler.
describe.skipIf(!canCompile)('a disk whose reads fail for moments', () => {
  it('loses no settlement: every job is done after one run of its handler', async () => {
    const folder = aFolder();
    const path = join(folder, 'store.db');
    const [shim, flag] = [join(folder, 'read-errors.so'), join(folder, 'broken')];
    execFileSync('cc', ['-shared', '-fPIC', '-o', shim, source, '-ldl']);
    await addJobs(path);
    // A new process has no pages in memory, so the worker reads them from the disk.
    const worker = await startFixture('read-errors.mjs', [folder], { env: { LD_PRELOAD: shim, READ_ERRORS: flag } });
    const runs = () => worker.messages.filter(({ type }) => type === 'run').length;
    await worker.next(({ type }) => type === 'ready');
    while (runs() < JOBS) {
      writeFileSync(flag, '');
      await sleep(BROKEN_MS);
      rmSync(flag);
      await sleep(WHOLE_MS);
    }
    expect(worker.messages.filter(({ type }) => type === 'store-away' || type === 'trouble')).not.toEqual([]);
    await worker.terminate();
    const store = await openSqliteStore({ path });
    onTestFinished(() => store.close());
    const { jobs } = await store.jobs.list({ queue: 'q', order: 'newest', limit: 1_000 });
    expect(jobs.filter(({ state, failures, attempt }) => state !== 'done' || failures > 0 || attempt > 1)).toEqual([]);
    expect(runs()).toBe(JOBS);
  });
});

async function addJobs(path: string): Promise<void> {
  const store = await openSqliteStore({ path });
  const data = JSON.stringify('x'.repeat(2_000));
  await store.jobs.add(Array.from({ length: JOBS }, (_, place) => ({ id: `job-${place}`, queue: 'q', data })));
  await store.close();
}
