/** Events: every subscriber gets every change, after it was made. */
import { expect, it, onTestFinished } from 'vitest';
import { TRACKED_RECORD } from '../../src/core/job/tracked-jobs.ts';
import type { StoreEvent } from '../../src/core/ports/job-store.ts';
import { followTracked } from '../../src/library/follow-tracked.ts';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, release, resend, retry, type Workbench } from './workbench.ts';

const mark = (bench: Workbench, id: string) => bench.records.put({ kind: TRACKED_RECORD, key: id, value: '{}' });
const short = ({ type, id, queue, state }: StoreEvent) => `${type} ${id}@${queue} ${state}`;

export function eventContract(open: Open): void {
  it('report every change of a job, in the order of the changes', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 9 });
    const log = await bench.listen();
    await bench.add({ id: 'a', draft: true });
    await bench.jobs.commit(['a']);
    await bench.settle(await bench.claimOne(), fail());
    await bench.settle(await bench.claimOne(), retry());
    await bench.settle(await bench.claimOne(), resend());
    await bench.settle(await bench.claimOne(), release);
    await bench.claimOne();
    bench.pass(LEASE_MS);
    await bench.jobs.maintain({ limit: 1 });
    await bench.settle(await bench.claimOne(), { kind: 'complete', next: { queue: 'b', delayMs: 0 } });
    await bench.jobs.move([{ id: 'a', queue: 'q' }]);
    await bench.jobs.change([{ id: 'a', priority: 1 }]);
    const job = await bench.claimOne();
    await bench.heartbeat(job, { progress: { percent: 1, text: null } });
    await bench.jobs.cancel([{ id: 'a' }]);
    await bench.settle(job, complete);
    await bench.jobs.requeue([{ id: 'a' }]);
    await bench.settle(await bench.claimOne(), { kind: 'forward', address: 'x' });
    await bench.jobs.requeue([{ id: 'a' }]);
    await bench.settle(await bench.claimOne(), complete);
    await bench.jobs.delete(['a']);
    const events = await log.until((heard) => heard.some(({ type }) => type === 'deleted'));
    const claimed = 'claimed a@q running';
    expect(events.map(short)).toEqual([
      'added a@q draft',
      'committed a@q waiting',
      claimed,
      'failed a@q waiting',
      claimed,
      'retried a@q waiting',
      claimed,
      'resent a@q waiting',
      claimed,
      'released a@q waiting',
      claimed,
      'lost a@q waiting',
      claimed,
      'advanced a@b waiting',
      'moved a@q waiting',
      'changed a@q waiting',
      claimed,
      'progress a@q running',
      'cancel-asked a@q running',
      'cancelled a@q cancelled',
      'requeued a@q waiting',
      claimed,
      'forwarded a@q done',
      'requeued a@q waiting',
      claimed,
      'completed a@q done',
      'deleted a@q done',
    ]);
  });

  it('report each of the changes that one call makes', async () => {
    const bench = await open();
    const log = await bench.listen();
    await bench.add({ id: 'a' }, { id: 'b', queue: 'other' }, { id: 'a' });
    await bench.claim({ queues: ['q', 'other'] });
    const events = await log.until((heard) => heard.length >= 4);
    expect(events.map(short)).toEqual([
      'added a@q waiting',
      'added b@other waiting',
      'claimed a@q running',
      'claimed b@other running',
    ]);
  });

  it("report that a queue's settings changed", async () => {
    const bench = await open();
    const log = await bench.listen();
    await bench.setQueue('mail', { state: 'paused' });
    await bench.records.delete('queue', 'mail');
    await bench.records.put({ kind: 'schedule', key: 'mail', value: '1' });
    await bench.add({ id: 'end' });
    const events = await log.until((heard) => heard.some(({ id }) => id === 'end'));
    expect(events.map(short)).toEqual(['queue @mail null', 'queue @mail null', 'added end@q waiting']);
  });

  it('report that a job is tracked or untracked, in the order of all events', async () => {
    const bench = await open();
    await bench.running({ id: 'a' });
    const log = await bench.listen();
    await mark(bench, 'a');
    await bench.records.delete(TRACKED_RECORD, 'a');
    await mark(bench, 'gone');
    const events = await log.until((heard) => heard.some(({ id }) => id === 'gone'));
    expect(events.map(short)).toEqual(['tracked a@q running', 'untracked a@q running', 'tracked gone@ null']);
  });

  it('of tracked jobs can be followed: jobs tracked before, jobs tracked meanwhile, and no others', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' });
    await mark(bench, 'a');
    const [log, received] = [await bench.listen(), [] as string[]];
    onTestFinished(await followTracked(bench, (events) => received.push(...events.map(short))));
    await mark(bench, 'b');
    for (const job of await bench.claim()) await bench.settle(job, complete);
    await bench.records.delete(TRACKED_RECORD, 'a');
    await bench.jobs.delete(['a', 'b', 'c']);
    await log.until((heard) => heard.some(({ type, id }) => type === 'deleted' && id === 'c'));
    const settled = ['completed a@q done', 'completed b@q done'];
    const claimed = ['claimed a@q running', 'claimed b@q running'];
    expect(received).toEqual(['tracked b@q waiting', ...claimed, ...settled, 'untracked a@q done', 'deleted b@q done']);
  });

  it('are not emitted for reads, refusals, repetitions and plain heartbeats', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.settle(await bench.running({ id: 'b' }), complete);
    const log = await bench.listen();
    await bench.heartbeat(job);
    await bench.heartbeat(job, { checkpoint: '1', data: '2' });
    await bench.add({ id: 'a' });
    await bench.jobs.find(['a']);
    await bench.jobs.count();
    await bench.jobs.cancel([{ id: 'b' }]);
    await bench.jobs.delete(['a', 'none']);
    await bench.claim();
    await bench.jobs.maintain({ limit: 10 });
    await bench.add({ id: 'end' });
    const events = await log.until((heard) => heard.some(({ id }) => id === 'end'));
    expect(events.map(short)).toEqual(['added end@q waiting']);
  });

  it('reach every subscriber until it unsubscribes', async () => {
    const bench = await open();
    const [first, second] = [await bench.listen(), await bench.listen()];
    const heard: string[] = [];
    const stop = bench.jobs.subscribe((events) => heard.push(...events.map(({ id }) => id)));
    stop();
    stop();
    await bench.add({ id: 'a' });
    await first.until((events) => events.length > 0);
    await second.until((events) => events.length > 0);
    expect(heard).toEqual([]);
  });

  it('come after the change is visible', async () => {
    const bench = await open();
    const found = new Promise<unknown>((resolve, reject) => {
      bench.jobs.subscribe((events) => {
        if (events.some(({ id }) => id === 'a')) bench.jobs.find(['a']).then(([job]) => resolve(job), reject);
      });
    });
    const log = await bench.listen();
    await bench.add({ id: 'a' });
    await log.until((events) => events.length > 0);
    expect(await found).toMatchObject({ id: 'a', state: 'waiting' });
  });
}
