/** Claims that wait in the store for a job. They wait for real, so these tests use the clock of the store. */
import { expect, it } from 'vitest';
import type { ClaimRequest, ClaimResult, ClaimWait } from '../../src/core/ports/job-store.ts';
import type { Open } from './contract.ts';
import { complete, release, retry, type Workbench } from './workbench.ts';

/** The parts that a store without waiting claims leaves out. */
export const ANSWERS_AT_ONCE = { 'waiting claims': 'the store answers a claim at once' };

/** Longer than a test: a claim that waits for its end has missed its job. */
const LONG_MS = 20_000;
const SHORT_MS = 60;

type Waiting = Partial<ClaimRequest> & { readonly wait?: Partial<ClaimWait> };

let requests = 0;

/** A store may answer early without jobs, as Redis does until its second connection is open. Then it claims again. */
async function claimWaiting({ jobs }: Workbench, { wait, ...request }: Waiting = {}): Promise<ClaimResult> {
  requests += 1;
  const full = { worker: 'w', queues: ['q'], limit: 1, requestId: `waiting-${requests}`, ...request };
  const { ms, signal } = { ms: LONG_MS, signal: new AbortController().signal, ...wait };
  for (const endAt = performance.now() + ms; ; ) {
    const leftMs = endAt - performance.now();
    const result = await jobs.claim(full, { wait: { ms: leftMs, signal } });
    if (result.jobs.length > 0 || signal.aborted || performance.now() + 1 >= endAt) return result;
  }
}

function controller(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const made = new AbortController();
  return { signal: made.signal, abort: () => made.abort() };
}

const idsOf = async (claim: Promise<ClaimResult>): Promise<readonly string[]> => (await claim).jobs.map(({ id }) => id);

/** Starts a waiting claim, and returns when the store has it. */
async function held(bench: Workbench, waiting: Waiting = {}): Promise<{ readonly ids: Promise<readonly string[]> }> {
  const ids = idsOf(claimWaiting(bench, waiting));
  // The store performs the calls of a client in their order.
  await bench.claim({ queues: ['another'] });
  return { ids };
}

export function waitingClaimContract(open: Open): void {
  it('get a job that is there already', async () => {
    const bench = await open('store');
    await bench.add({ id: 'a' });
    expect(await idsOf(claimWaiting(bench))).toEqual(['a']);
  });

  it('get a job that is added later, with a lease that begins then', async () => {
    const bench = await open('store');
    const { ids } = await held(bench, { queues: ['other', 'q'], leaseMs: 30_000 });
    const before = Date.now();
    await bench.add({ id: 'a' });
    expect(await ids).toEqual(['a']);
    const { lease } = await bench.job('a');
    expect(lease?.until).toBeGreaterThanOrEqual(before + 30_000);
  });

  it('get the job of an add that is sent together with them', async () => {
    const bench = await open('store');
    const ids = idsOf(claimWaiting(bench));
    await bench.add({ id: 'a' });
    expect(await ids).toEqual(['a']);
  });

  it('get a job that is committed, released, retried, requeued, moved or changed later', async () => {
    const bench = await open('store');
    await bench.setQueue('q', { retries: 9 });
    await bench.add({ id: 'a', draft: true });
    const gets = async (change: () => Promise<unknown>): Promise<void> => {
      const { ids } = await held(bench);
      await change();
      expect(await ids).toEqual(['a']);
    };
    const running = async () => (await bench.job('a')) as Awaited<ReturnType<Workbench['running']>>;
    await gets(() => bench.jobs.commit(['a']));
    await gets(async () => bench.settle(await running(), release));
    await gets(async () => bench.settle(await running(), retry()));
    await bench.settle(await running(), complete);
    await gets(() => bench.jobs.requeue([{ id: 'a' }]));
    await gets(() => bench.jobs.requeue([{ id: 'a', steal: true }]));
    await bench.settle(await running(), { kind: 'complete', next: { queue: 'b', delayMs: 0 } });
    await gets(() => bench.jobs.move([{ id: 'a', queue: 'q' }]));
    await bench.settle(await running(), retry(LONG_MS));
    await gets(() => bench.jobs.change([{ id: 'a', runAt: 1 }]));
  });

  it('get a job when it is due, whether it was added before or during the wait', async () => {
    const bench = await open('store');
    await bench.add({ id: 'a', delayMs: SHORT_MS });
    expect(await idsOf(claimWaiting(bench))).toEqual(['a']);
    const { ids } = await held(bench);
    await bench.add({ id: 'b', delayMs: SHORT_MS });
    expect(await ids).toEqual(['b']);
  });

  it('get a job when its lost lease has ended', async () => {
    const bench = await open('store');
    await bench.setQueue('q', { lostGraceMs: 0 });
    await bench.add({ id: 'a' });
    await bench.claimOne({ leaseMs: SHORT_MS });
    expect(await idsOf(claimWaiting(bench, { worker: 'v' }))).toEqual(['a']);
  });

  it('get a job when its queue is resumed, and when a slot of its queue is free', async () => {
    const bench = await open('store');
    await bench.setQueue('q', { state: 'paused' });
    await bench.add({ id: 'a' }, { id: 'b' });
    const paused = await held(bench);
    await bench.setQueue('q', { state: 'up', maxRunning: 1 });
    expect(await paused.ids).toEqual(['a']);
    const limited = await held(bench, { worker: 'v' });
    await bench.settle((await bench.job('a')) as Parameters<Workbench['settle']>[0], complete);
    expect(await limited.ids).toEqual(['b']);
  });

  it('are answered without jobs when their time is over, and not before', async () => {
    const bench = await open('store');
    const from = performance.now();
    const { jobs, nextAt } = await claimWaiting(bench, { wait: { ms: SHORT_MS } });
    expect([jobs, nextAt]).toEqual([[], null]);
    expect(performance.now() - from).toBeGreaterThanOrEqual(SHORT_MS - 2);
    await bench.add({ id: 'a' });
    expect((await bench.job('a')).state).toBe('waiting');
  });

  it('are answered without jobs when they are withdrawn, at any time', async () => {
    const bench = await open('store');
    const startedAt = performance.now();
    const early = new AbortController();
    early.abort();
    expect(await idsOf(claimWaiting(bench, { wait: { signal: early.signal } }))).toEqual([]);
    const sameTurn = new AbortController();
    const claim = claimWaiting(bench, { wait: { signal: sameTurn.signal } });
    sameTurn.abort();
    expect(await idsOf(claim)).toEqual([]);
    const late = new AbortController();
    const { ids } = await held(bench, { wait: { signal: late.signal } });
    late.abort();
    expect(await ids).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(LONG_MS);
    await bench.add({ id: 'a' });
    late.abort();
    expect((await bench.job('a')).state).toBe('waiting');
  });

  it('share the jobs of one add, each job once', async () => {
    const bench = await open('store');
    const { signal, abort } = controller();
    const claims = [];
    for (const worker of ['u', 'v', 'w']) claims.push(await held(bench, { worker, wait: { signal } }));
    const got: string[] = [];
    const all = Promise.all(claims.map(async ({ ids }) => got.push(...(await ids))));
    await bench.add({ id: 'a' }, { id: 'b' });
    await expect.poll(() => got.length).toBe(2);
    abort();
    await all;
    expect(got.sort()).toEqual(['a', 'b']);
  });

  it('do not get jobs of other queues', async () => {
    const bench = await open('store');
    const { ids } = await held(bench, { wait: { ms: SHORT_MS } });
    await bench.add({ id: 'a', queue: 'other' });
    expect(await ids).toEqual([]);
  });

  it('are answered again when they are repeated with their request id', async () => {
    const bench = await open('store');
    const { ids } = await held(bench, { requestId: 'the-same' });
    await bench.add({ id: 'a' });
    expect(await ids).toEqual(['a']);
    await bench.add({ id: 'b' });
    expect(await idsOf(claimWaiting(bench, { requestId: 'the-same' }))).toEqual(['a']);
    expect(await bench.claimIds({ requestId: 'the-same' })).toEqual(['a']);
    expect(await bench.claimIds()).toEqual(['b']);
  });

  it('do not hold up the end of the store', async () => {
    const bench = await open('store');
    const { signal } = new AbortController();
    const request = { worker: 'w', queues: ['q'], limit: 1, requestId: 'the-last' };
    const claim = bench.jobs.claim(request, { wait: { ms: LONG_MS, signal } });
    await bench.claim({ queues: ['another'] });
    await bench.store.close();
    expect((await claim).jobs).toEqual([]);
  });
}
