/** Errors of the store while it settles: which settlement is repeated, which becomes a failure, and the effect on others. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWorker } from '../../../test/support/trial-worker.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { JobStore, Settlement } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longhaul-settle-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Settle = JobStore['settle'];

/** A memory store whose `settle` goes through `around`. */
function storeWith(around: (settlements: readonly Settlement[], settle: Settle) => ReturnType<Settle>): Store {
  const store = openMemoryStore();
  const { settle } = store.jobs;
  return { ...store, jobs: { ...store.jobs, settle: (settlements) => around(settlements, settle) } };
}

const numberOf = ({ id }: Settlement) => Number(id.slice('job-'.length));

describe('an error of the store is no failure of the job', () => {
  it.each([
    ['a disk error without a code', Object.assign(new Error('disk I/O error'), { errcode: 266 })],
    ['damage', new LonghaulError('data-corrupt', 'database disk image is malformed')],
    ['missing rights', new LonghaulError('refused', 'this role may not do that')],
    ['a bug', new TypeError('Cannot read properties of undefined')],
  ])('%s: the settlement is journaled and repeated until the store takes it', async (_what, error) => {
    let isBroken = true;
    let calls = 0;
    const store = storeWith(async (settlements, settle) => {
      calls += 1;
      if (isBroken) throw error;
      return await settle(settlements);
    });
    const { add, next, find, events } = await startWorker({ store, journalPath: join(folder, 'journal') });
    await add('a');
    await expect.poll(() => calls).toBeGreaterThan(1);
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    const [name = ''] = await readdir(folder);
    expect(await readFile(join(folder, name), 'utf8')).toContain('"kind":"complete"');
    isBroken = false;
    expect(await next('ended')).toMatchObject({
      settlement: { kind: 'complete' },
      answer: { ok: true, state: 'done' },
    });
    expect(await find('a')).toMatchObject({ state: 'done', attempt: 1, failures: 0 });
    await expect.poll(() => readdir(folder)).toEqual([]);
    expect(events.filter(({ type }) => type === 'trouble')).toHaveLength(1);
  });

  it('a missing answer is no answer', async () => {
    let calls = 0;
    const store = storeWith(async (settlements, settle) => {
      calls += 1;
      return calls < 3 ? [] : await settle(settlements);
    });
    const { add, next, find } = await startWorker({ store });
    await add('a');
    expect(await next('ended')).toMatchObject({ answer: { ok: true, state: 'done' } });
    expect(await find('a')).toMatchObject({ attempt: 1 });
  });

  it('a settlement that the store cannot take does not delay others', async () => {
    let isBroken = true;
    const store = storeWith(async (settlements, settle) => {
      if (isBroken && settlements.some((each) => numberOf(each) % 5 === 0)) throw new Error('out of memory');
      return await settle(settlements);
    });
    const { add, next, find } = await startWorker({ store, concurrency: 20 });
    for (let number = 0; number < 20; number += 1) await add(`job-${number}`);
    for (let ended = 0; ended < 16; ended += 1) await next('ended');
    expect(await find('job-5')).toMatchObject({ state: 'running' });
    isBroken = false;
    for (let ended = 0; ended < 4; ended += 1) await next('ended');
    expect(await find('job-5')).toMatchObject({ state: 'done', attempt: 1 });
  });

  it('the lease is renewed while its settlement waits', async () => {
    let isBroken = true;
    const store = storeWith(async (settlements, settle) => {
      if (isBroken) throw new Error('disk I/O error');
      return await settle(settlements);
    });
    const { add, next, find } = await startWorker({ store, leaseMs: 400 });
    await add('a');
    const { job } = await next('started');
    const isRenewed = async () => ((await find('a')).lease?.until ?? 0) > job.lease.until + 400;
    await expect.poll(isRenewed).toBe(true);
    isBroken = false;
    expect(await next('ended')).toMatchObject({ answer: { ok: true, state: 'done' } });
    expect(await find('a')).toMatchObject({ attempt: 1, interruptions: 0 });
  });

  it('a refusal is an answer: nothing is repeated and nothing stays in the journal', async () => {
    let calls = 0;
    const store = storeWith(async (settlements, settle) => {
      calls += 1;
      if (calls === 1) throw new Error('disk I/O error');
      await store.jobs.cancel(settlements.map(({ id }) => ({ id })));
      await store.jobs.endWorker({ id: worker.id, kind: 'fail' });
      return await settle(settlements);
    });
    const trial = await startWorker({ store, journalPath: join(folder, 'journal') });
    const { worker } = trial;
    await trial.add('a');
    expect(await trial.next('ended')).toMatchObject({ answer: { ok: false, refusal: { code: 'lease-lost' } } });
    await expect.poll(() => readdir(folder)).toEqual([]);
    expect(calls).toBe(2);
  });
});

describe('a settlement that can never be written', () => {
  it('becomes a failure, which an error of the store does not replace either', async () => {
    let isBroken = true;
    const store = storeWith(async (settlements, settle) => {
      if (settlements.some((each) => each.kind === 'complete')) throw new LonghaulError('bad-input', 'is too large');
      if (isBroken) throw new LonghaulError('data-corrupt', 'database disk image is malformed');
      return await settle(settlements);
    });
    const { add, next, find } = await startWorker({ store, journalPath: join(folder, 'journal') });
    await add('a');
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    isBroken = false;
    expect(await next('ended')).toMatchObject({ settlement: { kind: 'fail' }, answer: { ok: true } });
    expect(await find('a')).toMatchObject({ state: 'failed', failure: { message: 'is too large' } });
    await expect.poll(() => readdir(folder)).toEqual([]);
  });
});
