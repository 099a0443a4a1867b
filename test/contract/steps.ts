/** Durable steps: kept once under the token, bounded, and deleted with their job. */
import { expect, it } from 'vitest';
import type { RunningJob } from '../../src/core/job/job.ts';
import type { StepKind } from '../../src/core/job/step.ts';
import { MAX_STEP_BYTES, MAX_STEPS, MAX_STEPS_BYTES } from '../../src/core/job/step.ts';
import type { StepResult, StepWrite } from '../../src/core/ports/job-store.ts';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, outcomeOf, type Workbench } from './workbench.ts';

/** Writes a step of a running job; a done one if nothing else is said. */
export async function keep(
  bench: Workbench,
  { id, lease }: Pick<RunningJob, 'id' | 'lease'>,
  step: Partial<StepWrite> & { readonly name: string },
): Promise<StepResult> {
  const write = { id, token: lease.token, kind: 'run' as StepKind, status: 'done' as const, ...step };
  const [result] = await bench.jobs.keepSteps([write]);
  return result as StepResult;
}

export async function names(bench: Workbench, id: string): Promise<readonly string[]> {
  return (await bench.jobs.steps(id)).map(({ name }) => name);
}

export function stepContract(open: Open): void {
  it('keeps a step with its result, attempts and times, and returns it', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(50);
    const write = { name: 'cut', result: '{"ok":"é"}', attempts: 2, ranMs: 20 };
    const step = {
      number: 1,
      kind: 'run',
      name: 'cut',
      status: 'done',
      result: '{"ok":"é"}',
      failure: null,
      attempts: 2,
      startedAt: bench.now - 20,
      endedAt: bench.now,
      until: null,
    };
    expect(await keep(bench, job, write)).toEqual({ ok: true, step, now: bench.now });
    expect(await bench.jobs.steps('a')).toEqual([step]);
    expect((await bench.job('a')).steps).toEqual({ count: 1, bytes: 14 });
    expect(await bench.jobs.steps('unknown')).toEqual([]);
  });

  it('never overwrites a step that is done, and returns the kept one', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    const first = await keep(bench, job, { name: 'cut', result: '1', attempts: 1 });
    bench.pass(10);
    const again = await keep(bench, job, { name: 'cut', result: '2', attempts: 2 });
    expect(again).toEqual({ ...first, now: bench.now });
    expect(outcomeOf(await keep(bench, job, { name: 'cut', status: 'failed', failure: 'late' }))).toBe('ok');
    expect(await bench.jobs.steps('a')).toMatchObject([{ status: 'done', result: '1', failure: null, attempts: 1 }]);
  });

  it('replaces a failed step by a later outcome, and keeps its begin and its place', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    const began = bench.now;
    await keep(bench, job, { name: 'cut', status: 'failed', failure: 'no disk', attempts: 1 });
    await keep(bench, job, { name: 'join', result: '3' });
    bench.pass(10);
    await keep(bench, job, { name: 'cut', result: '1', attempts: 2 });
    expect(await bench.jobs.steps('a')).toMatchObject([
      { number: 1, name: 'cut', status: 'done', failure: null, attempts: 2, startedAt: began, endedAt: began + 10 },
      { number: 2, name: 'join', attempts: 0 },
    ]);
    expect((await bench.job('a')).steps).toEqual({ count: 2, bytes: 3 + 1 + 4 + 1 });
  });

  it('tells steps of one name and different kinds apart', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await keep(bench, job, { name: 'x', result: '1' });
    await keep(bench, job, { name: 'x', kind: 'sleep', status: 'waiting', delayMs: 7 });
    expect(await bench.jobs.steps('a')).toMatchObject([
      { kind: 'run', status: 'done', until: null },
      { kind: 'sleep', status: 'waiting', until: bench.now + 7, endedAt: null },
    ]);
  });

  it('fixes the wake time of a wait at its first write', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    const sleep = { name: 'sleep', kind: 'sleep', status: 'waiting', delayMs: 100 } as const;
    const until = bench.now + 100;
    expect(await keep(bench, job, sleep)).toMatchObject({ step: { until } });
    bench.pass(30);
    expect(await keep(bench, job, sleep)).toMatchObject({ step: { until }, now: bench.now });
  });

  it('refuses a step of a stale token, and of an unknown job', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(LEASE_MS);
    const holder = await bench.claimOne({ worker: 'other' });
    expect(outcomeOf(await keep(bench, job, { name: 'cut', result: '1' }))).toBe('lease-lost');
    expect(await bench.jobs.steps('a')).toEqual([]);
    expect(await bench.job('a')).toEqual(holder);
    expect(outcomeOf(await keep(bench, { ...job, id: 'none' }, { name: 'cut' }))).toBe('not-found');
  });

  it('keeps the steps through failures, crashes and a requeue of a failed or cancelled job', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 1 });
    const job = await bench.running({ id: 'a' });
    await keep(bench, job, { name: 'cut', result: '1' });
    await bench.settle(job, fail());
    await bench.claimOne();
    await bench.loseLeases();
    await bench.settle(await bench.claimOne(), fail());
    expect(await bench.job('a')).toMatchObject({ state: 'failed', steps: { count: 1 } });
    await bench.jobs.requeue([{ id: 'a' }]);
    await bench.jobs.cancel([{ id: 'a' }]);
    await bench.jobs.requeue([{ id: 'a' }]);
    expect(await names(bench, 'a')).toEqual(['cut']);
    expect(await bench.claimOne()).toMatchObject({ attempt: 4, steps: { count: 1, bytes: 4 } });
  });

  it('clears the steps of a done job that is requeued, of an advanced one, and by fresh', async () => {
    const bench = await open();
    for (const id of ['done', 'advanced', 'fresh']) {
      const job = await bench.running({ id });
      await keep(bench, job, { name: 'cut', result: '1' });
      await bench.heartbeat(job, { checkpoint: '1' });
      const next = { kind: 'complete', next: { queue: 'next', delayMs: 0 } } as const;
      await bench.settle(job, id === 'done' ? complete : id === 'fresh' ? fail({ final: true }) : next);
    }
    expect((await bench.job('done')).steps).toEqual({ count: 1, bytes: 4 });
    await bench.jobs.requeue([{ id: 'done' }, { id: 'fresh', fresh: true }]);
    for (const id of ['done', 'advanced', 'fresh']) {
      expect(await bench.job(id)).toMatchObject({ state: 'waiting', steps: null, checkpoint: null });
      expect(await bench.jobs.steps(id)).toEqual([]);
    }
    const again = await bench.claimOne();
    expect(await keep(bench, again, { name: 'cut', result: '2' })).toMatchObject({ step: { number: 1, result: '2' } });
  });

  it('deletes the steps with the job', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await keep(bench, job, { name: 'cut', result: '1' });
    await bench.settle(job, complete);
    await bench.jobs.delete(['a']);
    const again = await bench.running({ id: 'a' });
    expect(again.steps).toBeNull();
    expect(await bench.jobs.steps('a')).toEqual([]);
    await keep(bench, again, { name: 'join' });
    expect(await names(bench, 'a')).toEqual(['join']);
  });

  it('prunes the steps with the job', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await keep(bench, job, { name: 'cut', result: '1' });
    await bench.settle(job, complete);
    bench.pass(8 * 24 * 3_600_000);
    expect(await bench.jobs.maintain({ limit: 100 })).toMatchObject({ pruned: 1 });
    expect((await bench.running({ id: 'a' })).steps).toBeNull();
    expect(await bench.jobs.steps('a')).toEqual([]);
  });

  it('counts the steps of ended jobs in the storage', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await keep(bench, job, { name: 'cut', result: '"0123456789"' });
    await bench.settle(job, complete);
    const [storage] = await bench.jobs.insight({ kind: 'storage', queue: 'q' });
    expect(storage?.done).toEqual({ count: 1, bytes: 2 + 3 + 12 });
    await bench.jobs.requeue([{ id: 'a' }]);
    await bench.settle(await bench.claimOne(), complete);
    const [later] = await bench.jobs.insight({ kind: 'storage', queue: 'q' });
    expect(later?.done).toEqual({ count: 1, bytes: 2 });
  });

  it('refuses a step that is too large, and keeps nothing of it', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    const text = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));
    expect(outcomeOf(await keep(bench, job, { name: 'a', result: text(MAX_STEP_BYTES - 1) }))).toBe('ok');
    const large = await keep(bench, job, { name: 'b', result: text(MAX_STEP_BYTES) });
    expect(large).toMatchObject({ ok: false, refusal: { code: 'step-limit' } });
    expect(large).toMatchObject({ refusal: { message: expect.stringContaining('256 KB') } });
    expect(await names(bench, 'a')).toEqual(['a']);
    const most = MAX_STEPS_BYTES / MAX_STEP_BYTES;
    for (let i = 1; i < most; i += 1)
      await keep(bench, job, { name: `${i % 10}`.repeat(1 + Math.floor(i / 10)), result: text(MAX_STEP_BYTES - 2) });
    const [last] = [await keep(bench, job, { name: 'over', result: text(100) })];
    expect(last).toMatchObject({ ok: false, refusal: { message: expect.stringContaining('4 MB') } });
  });

  it('refuses more steps than a job may have', async () => {
    const bench = await open();
    const { id, lease } = await bench.running({ id: 'a' });
    const step = (n: number): StepWrite => ({ id, token: lease.token, kind: 'run', name: `s${n}`, status: 'done' });
    const results = await bench.jobs.keepSteps(Array.from({ length: MAX_STEPS + 1 }, (_, n) => step(n)));
    expect(results.map(outcomeOf).filter((outcome) => outcome === 'ok')).toHaveLength(MAX_STEPS);
    expect(results.at(-1)).toMatchObject({ refusal: { message: expect.stringContaining('1000 steps') } });
    expect(outcomeOf((await bench.jobs.keepSteps([step(1)]))[0] as StepResult)).toBe('ok');
    const read = await bench.jobs.steps('a');
    expect(read.map(({ name }) => name)).toEqual(Array.from({ length: MAX_STEPS }, (_, n) => `s${n}`));
  });
}
