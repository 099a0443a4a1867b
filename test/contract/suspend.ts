/** Suspended jobs: they wait for a time, an event or other jobs without a lease, and resume the same attempt. */
import { expect, it } from 'vitest';
import { labelOf } from '../../src/core/job/label.ts';
import { NEVER } from '../../src/core/job/step.ts';
import { THROTTLE_RECORD } from '../../src/core/limits/throttle.ts';
import type { NotifyResult } from '../../src/core/ports/job-store.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings/settings.ts';
import type { Open } from './contract.ts';
import { keep } from './steps.ts';
import { aJob, complete, fail, LEASE_MS, type Outcome, outcomeOf, type Workbench } from './workbench.ts';

const suspend = (wait: Partial<Outcome & { kind: 'suspend' }> = {}): Outcome => ({
  kind: 'suspend',
  until: null,
  event: null,
  children: null,
  ...wait,
});

async function notify(bench: Workbench, id: string, name: string, data = '{}'): Promise<NotifyResult> {
  const [result] = await bench.jobs.notify([{ id, name, data }]);
  return result as NotifyResult;
}

const EVENT = { kind: 'event', name: 'go', status: 'waiting' } as const;

export function suspendContract(open: Open): void {
  it('waits until the wake time, and resumes the same attempt under a new token', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(1_000);
    const until = bench.now + 5_000;
    expect(await bench.settle(job, suspend({ until }))).toEqual({ ok: true, state: 'waiting' });
    const waiting = await bench.job('a');
    const suspension = { until, event: null, ranMs: 1_000 };
    expect(waiting).toMatchObject({ state: 'waiting', lease: null, runAt: until, failures: 0, attempt: 1, suspension });
    expect(labelOf(waiting, DEFAULT_SETTINGS, bench.now)).toMatchObject({ label: 'suspended' });
    bench.pass(4_999);
    const early = await bench.requestClaim();
    expect(early).toMatchObject({ jobs: [], nextAt: until });
    bench.pass(1);
    const resumed = await bench.claimOne({ worker: 'other' });
    expect(resumed).toMatchObject({ attempt: 1, suspension, failures: 0, interruptions: 0, crashes: 0 });
    expect(resumed.lease.token).toBeGreaterThan(job.lease.token);
    const rows = await bench.jobs.history('a');
    expect(rows.map(({ event, attempt, note }) => [event, attempt, note])).toEqual([
      ['added', 0, null],
      ['claimed', 1, null],
      ['suspended', 1, 'sleeping'],
      ['resumed', 1, null],
    ]);
    expect(outcomeOf(await keep(bench, job, { name: 'cut' }))).toBe('lease-lost');
  });

  it('adds up the run time of an attempt over its suspensions, and counts one wait and one run', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    bench.pass(1_000);
    await bench.settle(job, suspend({ until: bench.now + 500_000 }));
    bench.pass(500_000);
    const second = await bench.claimOne();
    bench.pass(200);
    await bench.settle(second, suspend({ until: bench.now }));
    const third = await bench.claimOne();
    expect(third).toMatchObject({ attempt: 1, suspension: { ranMs: 1_200 } });
    bench.pass(30);
    await bench.settle(third, complete);
    expect(await bench.job('a')).toMatchObject({ state: 'done', attempt: 1, suspension: null });
    const days = await bench.jobs.insight({ kind: 'statistics', queue: 'q' });
    expect(days).toMatchObject([{ wait: { count: 1 }, run: { count: 1, mean: 1_230 }, retries: 0, interruptions: 0 }]);
  });

  it('begins a new attempt after any other end of the resumed one', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 3 });
    const ends: readonly Outcome[] = [
      fail(),
      { kind: 'release', reason: 'x' },
      { kind: 'resend', delayMs: 0, reason: 'x' },
    ];
    await bench.add({ id: 'a' });
    let attempt = 0;
    for (const end of ends) {
      attempt += 1;
      await bench.settle(await bench.claimOne(), suspend({ until: bench.now }));
      await bench.settle(await bench.claimOne(), end);
      expect(await bench.job('a')).toMatchObject({ state: 'waiting', attempt, suspension: null });
    }
    await bench.settle(await bench.claimOne(), suspend({ until: bench.now }));
    await bench.claimOne();
    await bench.loseLeases();
    expect(await bench.job('a')).toMatchObject({ attempt: 4, suspension: null });
    bench.pass(LEASE_MS);
    expect(await bench.claimOne()).toMatchObject({ attempt: 5, suspension: null });
  });

  it('counts a suspended job as scheduled, and clears the suspension when it ends or restarts', async () => {
    const bench = await open();
    for (const id of ['cancelled', 'moved', 'stolen'])
      await bench.settle(await bench.running({ id }), suspend({ until: bench.now + 9 }));
    expect(await bench.jobs.count(['q'])).toMatchObject([{ waiting: 3, scheduled: 3, running: 0 }]);
    await bench.jobs.cancel([{ id: 'cancelled' }]);
    await bench.jobs.move([{ id: 'moved', queue: 'other' }]);
    await bench.jobs.requeue([{ id: 'stolen', steal: true }]);
    expect(await bench.job('cancelled')).toMatchObject({ state: 'cancelled', suspension: null });
    expect(await bench.job('moved')).toMatchObject({ queue: 'other', suspension: { until: bench.now + 9 } });
    expect(await bench.job('stolen')).toMatchObject({ state: 'waiting', suspension: null, runAt: bench.now });
    bench.pass(9);
    expect(await bench.claimOne({ queues: ['other'] })).toMatchObject({ attempt: 1 });
    expect(await bench.claimOne()).toMatchObject({ attempt: 2 });
  });

  it('ends as cancelled when a cancel was asked for before it was suspended', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.jobs.cancel([{ id: 'a' }]);
    expect(await bench.settle(job, suspend({ until: bench.now + 9 }))).toEqual({ ok: true, state: 'cancelled' });
    expect(await bench.settle(job, suspend({ until: bench.now + 9 }))).toEqual({ ok: true, state: 'cancelled' });
    expect((await bench.job('a')).suspension).toBeNull();
  });

  it('frees its slots, keeps its unique key, and is not replaced by a later job', async () => {
    const bench = await open();
    await bench.setQueue('q', { maxRunning: 1 });
    const unique = { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 } as const;
    const until = bench.now + 99;
    await bench.settle(await bench.running({ id: 'a', unique, data: '1' }), suspend({ until }));
    await bench.add({ id: 'b' });
    expect(await bench.claimIds()).toEqual(['b']);
    const later = aJob({ id: 'c', unique, data: '2', delayMs: 500, onTaken: { kind: 'debounce', maxWaitMs: null } });
    expect(await bench.jobs.add([later])).toMatchObject([{ outcome: 'duplicate', id: 'a' }]);
    expect(await bench.job('a')).toMatchObject({ data: '1', runAt: until });
  });

  it('frees the slot of its throttle, and takes one when it resumes', async () => {
    const bench = await open();
    await bench.records.put({ kind: THROTTLE_RECORD, key: 'db', value: '{"max":1}' });
    const policy = { throttles: ['db'] };
    await bench.settle(await bench.running({ id: 'a', policy }), suspend({ until: bench.now + 5 }));
    await bench.add({ id: 'b', policy });
    const other = await bench.claimOne();
    expect(other).toMatchObject({ id: 'b', slots: ['t:db'] });
    bench.pass(5);
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(other, complete);
    expect(await bench.claimOne()).toMatchObject({ id: 'a', attempt: 1, slots: ['t:db'] });
  });

  it('is not coalesced with equal jobs', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce: { by: ['n'], scheduled: true } });
    await bench.settle(await bench.running({ id: 'a', data: '{"n":1}' }), suspend({ until: bench.now + 5 }));
    await bench.add({ id: 'b', data: '{"n":1}' });
    expect(await bench.claimOne()).toMatchObject({ id: 'b', folded: 0 });
    await bench.add({ id: 'c', data: '{"n":1}', priority: 9 });
    bench.pass(5);
    expect(await bench.claimOne()).toMatchObject({ id: 'a', attempt: 1, folded: 0 });
    expect(await bench.job('c')).toMatchObject({ foldedInto: null });
  });

  it('wakes a job that waits for an event, and keeps the first event', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await keep(bench, job, EVENT);
    await bench.settle(job, suspend({ event: 'go' }));
    expect(await bench.job('a')).toMatchObject({ runAt: NEVER, suspension: { until: null, event: 'go' } });
    expect(labelOf(await bench.job('a'), DEFAULT_SETTINGS, bench.now).reason).toBe('waiting for go');
    expect(await notify(bench, 'a', 'other')).toEqual({ ok: true, outcome: 'kept', state: 'waiting' });
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(7);
    expect(await notify(bench, 'a', 'go', '1')).toEqual({ ok: true, outcome: 'woken', state: 'waiting' });
    expect(await notify(bench, 'a', 'go', '2')).toEqual({ ok: true, outcome: 'ignored', state: 'waiting' });
    const resumed = await bench.claimOne();
    expect(resumed).toMatchObject({ attempt: 1, runAt: bench.now });
    expect(await bench.jobs.steps('a')).toMatchObject([
      { name: 'go', status: 'arrived', result: '1', endedAt: bench.now, startedAt: bench.now - 7 },
      { name: 'other', status: 'arrived' },
    ]);
    expect((await bench.jobs.history('a')).map(({ event, note }) => [event, note])).toContainEqual(['notified', 'go']);
  });

  it('keeps an event that arrives before the wait, also for a job that has not begun', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    expect(await notify(bench, 'a', 'go', '1')).toMatchObject({ outcome: 'kept', state: 'waiting' });
    const job = await bench.claimOne();
    expect(job).toMatchObject({ attempt: 1, steps: { count: 1, bytes: 3 } });
    expect(await keep(bench, job, { ...EVENT, delayMs: 5 })).toMatchObject({
      step: { status: 'arrived', result: '1' },
    });
    await bench.settle(job, suspend({ event: 'go', until: bench.now + 50 }));
    expect(await bench.claimOne()).toMatchObject({ id: 'a', attempt: 1 });
  });

  it('resumes at once when the event arrives between the wait and the settlement', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await keep(bench, job, EVENT);
    expect(await notify(bench, 'a', 'go')).toMatchObject({ outcome: 'kept', state: 'running' });
    await bench.settle(job, suspend({ event: 'go' }));
    expect(await bench.claimOne()).toMatchObject({ id: 'a', attempt: 1 });
  });

  it('keeps the next event for the next wait once the handler has read the first', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await notify(bench, 'a', 'go', '1');
    const read = await keep(bench, job, { ...EVENT, status: 'done' });
    expect(read).toMatchObject({ step: { status: 'done', result: '1' } });
    expect(await notify(bench, 'a', 'go', '2')).toMatchObject({ outcome: 'kept' });
    expect(await bench.jobs.steps('a')).toMatchObject([
      { name: 'go', status: 'done', result: '1' },
      { name: 'go#2', status: 'arrived', result: '2' },
    ]);
  });

  it('decides between an event and its timeout by what is kept first', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await keep(bench, job, { ...EVENT, delayMs: 5 });
    bench.pass(5);
    expect(await keep(bench, job, { ...EVENT, status: 'failed' })).toMatchObject({ step: { status: 'failed' } });
    await notify(bench, 'a', 'go', '1');
    expect(await keep(bench, job, { ...EVENT, status: 'done' })).toMatchObject({
      step: { status: 'failed', result: null },
    });
    const second = await keep(bench, job, { ...EVENT, name: 'go#2', status: 'failed' });
    expect(second).toMatchObject({ step: { status: 'arrived', result: '1' } });
  });

  it('refuses an event for a job that has ended or does not exist', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a' }), complete);
    expect(outcomeOf(await notify(bench, 'a', 'go'))).toBe('wrong-state');
    expect(outcomeOf(await notify(bench, 'none', 'go'))).toBe('not-found');
    expect(await bench.jobs.steps('a')).toEqual([]);
  });

  it('waits for other jobs without a slot, and resumes when all of them are done', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.add({ id: 'b', queue: 'r' }, { id: 'c', queue: 'r' });
    const children = ['b', 'gone', 'c'];
    expect(await bench.settle(job, suspend({ children }))).toEqual({ ok: true, state: 'waiting' });
    expect(await bench.job('a')).toMatchObject({ parents: { of: 2, open: 2, bad: 0 }, suspension: { until: null } });
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(await bench.claimOne({ queues: ['r'] }), complete);
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(await bench.claimOne({ queues: ['r'] }), complete);
    expect(await bench.claimOne()).toMatchObject({ id: 'a', attempt: 1 });
    expect((await bench.jobs.history('a')).find(({ event }) => event === 'suspended')?.note).toBe('waiting for 3 jobs');
  });

  it('applies the rule for failed dependencies to the jobs that it waits for', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', policy: { onDependencyFailed: 'fail' } });
    await bench.add({ id: 'b', queue: 'r' });
    await bench.settle(job, suspend({ children: ['b'] }));
    await bench.settle(await bench.claimOne({ queues: ['r'] }), fail({ final: true }));
    expect(await bench.job('a')).toMatchObject({ state: 'failed', suspension: null, failure: { group: 'dependency' } });
  });

  it('fails at once if a job that it would wait for has failed, and counts no failed attempt', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'b', queue: 'r' }), fail({ final: true }));
    const job = await bench.running({ id: 'a', policy: { onDependencyFailed: 'fail' } });
    expect(await bench.settle(job, suspend({ children: ['b'] }))).toEqual({ ok: true, state: 'failed' });
    const groups = await bench.jobs.insight({ kind: 'failures', queue: 'q' });
    expect(groups).toMatchObject([{ group: 'dependency', count: 1 }]);
    expect((await bench.jobs.insight({ kind: 'statistics', queue: 'q' })).map(({ failures }) => failures)).toEqual([0]);
  });
}
