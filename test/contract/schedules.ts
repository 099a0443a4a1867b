/**
 * Schedules over a store: every run time is handled by its policy, once over all nodes, whatever node dies in between.
 */
import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { Schedule } from '../../src/core/schedules/schedule.ts';
import type { ScheduleInput } from '../../src/core/schedules/schedule-input.ts';
import { fireSchedule } from '../../src/schedules/fire-schedule.ts';
import {
  deleteSchedule,
  pauseSchedule,
  resumeSchedule,
  runScheduleNow,
  setSchedule,
} from '../../src/schedules/manage-schedules.ts';
import { findSchedule, listSchedules } from '../../src/schedules/schedule-records.ts';
import type { Open } from './contract.ts';
import { complete, outcomeOf, type Workbench } from './workbench.ts';

const MINUTE_MS = 60_000;
/** `START` is twenty seconds before 15:07. */
const SLOT = '2025-06-15T15:';

const storeOf = ({ store, jobs, records }: Workbench): Store => ({ ...store, jobs, records });

/** What a node does in one check: fires each schedule until none has more to do. */
async function checkSchedules(bench: Workbench, store: Store = storeOf(bench)): Promise<void> {
  for (let rounds = 0; rounds < 50; rounds++) {
    const kept = await listSchedules(store.records);
    const next = await Promise.all(kept.map((each) => fireSchedule(store, each, bench.now)));
    if (next.every((at) => at === null || at > bench.now)) return;
  }
  throw new Error('a schedule never comes to rest');
}

const minutely = (rest: Partial<ScheduleInput> = {}): ScheduleInput => ({ cron: '* * * * *', queue: 'q', ...rest });

async function scheduleOf(bench: Workbench, name = 's'): Promise<Schedule> {
  const kept = await findSchedule(bench.records, name);
  if (kept === null) throw new Error(`there is no schedule ${name}`);
  return kept.schedule;
}

async function idsOf(bench: Workbench): Promise<readonly string[]> {
  const { jobs } = await bench.jobs.list({ order: 'newest', limit: 100 });
  return jobs.map(({ id }) => id).reverse();
}

/** One check a minute. */
async function passMinutes(bench: Workbench, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    bench.pass(MINUTE_MS);
    await checkSchedules(bench);
  }
}

export function scheduleContract(open: Open): void {
  it('fire each run time once, as a job that names its schedule and waits for its time', async () => {
    const bench = await open();
    await setSchedule(
      storeOf(bench),
      's',
      minutely({ data: { a: 1 }, options: { priority: 3, tags: ['t'], retries: 2 } }),
    );
    await checkSchedules(bench);
    expect(await idsOf(bench)).toEqual([]);
    await passMinutes(bench, 2);
    await checkSchedules(bench);
    expect(await idsOf(bench)).toEqual([`s@${SLOT}07:00Z`]);
    const job = await bench.job(`s@${SLOT}07:00Z`);
    expect(job).toMatchObject({
      queue: 'q',
      data: '{"a":1}',
      priority: 3,
      tags: ['t', 'schedule:s'],
      policy: { retries: 2 },
    });
    expect(job.runAt).toBe(Date.parse(`${SLOT}07:00Z`));
    expect(await scheduleOf(bench)).toMatchObject({ made: 1, skipped: 1, missed: 0, pending: [] });
  });

  it('fire once when several nodes check at the same time', async () => {
    const bench = await open();
    await setSchedule(storeOf(bench), 's', minutely({ overlap: 'allow' }));
    for (let minute = 0; minute < 3; minute++) {
      bench.pass(MINUTE_MS);
      const kept = await listSchedules(bench.records);
      await Promise.all([1, 2, 3].flatMap(() => kept.map((each) => fireSchedule(storeOf(bench), each, bench.now))));
    }
    expect(await idsOf(bench)).toEqual(['07', '08', '09'].map((minute) => `s@${SLOT}${minute}:00Z`));
    expect(await scheduleOf(bench)).toMatchObject({ made: 3, missed: 0 });
  });

  it('add nothing through a node that slept with an old record', async () => {
    const bench = await open();
    await setSchedule(storeOf(bench), 's', minutely());
    bench.pass(MINUTE_MS);
    const [asleep] = await listSchedules(bench.records);
    await checkSchedules(bench);
    const job = await bench.claimOne();
    await bench.settle(job, complete);
    await bench.jobs.delete([job.id]);
    if (asleep === undefined) throw new Error('there is no schedule');
    await fireSchedule(storeOf(bench), asleep, bench.now);
    expect(await idsOf(bench)).toEqual([]);
    expect(await scheduleOf(bench)).toMatchObject({ made: 1 });
  });

  it('keep the jobs that a dead node had decided pending, until another node adds them', async () => {
    const bench = await open();
    await setSchedule(storeOf(bench), 's', minutely());
    bench.pass(MINUTE_MS);
    const dying = { ...storeOf(bench), jobs: { ...bench.jobs, add: () => Promise.reject(new Error('killed')) } };
    await expect(checkSchedules(bench, dying)).rejects.toThrow('killed');
    expect(await idsOf(bench)).toEqual([]);
    await checkSchedules(bench);
    expect(await idsOf(bench)).toEqual([]);
    bench.pass(5_000);
    await checkSchedules(bench);
    expect(await idsOf(bench)).toEqual([`s@${SLOT}07:00Z`]);
    expect(await scheduleOf(bench)).toMatchObject({ made: 1, pending: [] });
  });

  it('skip a run time while the previous job has not ended', async () => {
    const bench = await open();
    await setSchedule(storeOf(bench), 's', minutely({ overlap: 'skip' }));
    await passMinutes(bench, 1);
    const job = await bench.claimOne();
    await passMinutes(bench, 2);
    await bench.settle(job, complete);
    await passMinutes(bench, 1);
    expect(await idsOf(bench)).toEqual(['07', '10'].map((minute) => `s@${SLOT}${minute}:00Z`));
    expect((await scheduleOf(bench)).recent.map(({ outcome }) => outcome)).toEqual([
      'made',
      'skipped',
      'skipped',
      'made',
    ]);
  });

  it('queue run times behind the previous job, up to the backlog', async () => {
    const bench = await open();
    await setSchedule(storeOf(bench), 's', minutely({ overlap: 'queue', backlog: 2 }));
    await passMinutes(bench, 1);
    const first = await bench.claimOne({ leaseMs: 60 * MINUTE_MS });
    await passMinutes(bench, 3);
    expect(await idsOf(bench)).toHaveLength(1);
    await bench.settle(first, complete);
    await checkSchedules(bench);
    const second = await bench.claimOne();
    expect(second.id).toBe(`s@${SLOT}09:00Z`);
    await bench.settle(second, complete);
    await checkSchedules(bench);
    expect(await idsOf(bench)).toEqual(['07', '09', '10'].map((minute) => `s@${SLOT}${minute}:00Z`));
    expect(await scheduleOf(bench)).toMatchObject({ made: 3, skipped: 1, queued: [] });
  });

  it('replace the previous job, which ends before the next one begins', async () => {
    const bench = await open();
    await setSchedule(storeOf(bench), 's', minutely({ overlap: 'replace' }));
    await passMinutes(bench, 1);
    const first = await bench.claimOne({ leaseMs: 60 * MINUTE_MS });
    await passMinutes(bench, 2);
    expect((await bench.job(first.id)).lease?.cancelAskedAt).not.toBeNull();
    expect(await idsOf(bench)).toHaveLength(1);
    await bench.settle(first, { kind: 'release', reason: 'asked to' });
    await checkSchedules(bench);
    expect(await bench.states(first.id, `s@${SLOT}08:00Z`, `s@${SLOT}09:00Z`)).toEqual(['cancelled', null, 'waiting']);
    await passMinutes(bench, 1);
    await checkSchedules(bench);
    expect(await bench.states(`s@${SLOT}09:00Z`, `s@${SLOT}10:00Z`)).toEqual(['cancelled', 'waiting']);
  });

  it('make up the newest run times of an absence, within the window, and count the others as missed', async () => {
    const bench = await open();
    await setSchedule(storeOf(bench), 's', minutely({ overlap: 'allow', catchUp: '10m', backlog: 3 }));
    await setSchedule(
      storeOf(bench),
      'all',
      minutely({ overlap: 'allow', catchUp: '10m', backlog: null, ids: 'count' }),
    );
    await setSchedule(storeOf(bench), 'late', { ...minutely({ catchUp: '10m' }), cron: '8 * * * *' });
    bench.pass(30 * MINUTE_MS);
    await checkSchedules(bench);
    const made = await idsOf(bench);
    expect(made.filter((id) => id.startsWith('s@'))).toEqual(
      ['34', '35', '36'].map((minute) => `s@${SLOT}${minute}:00Z`),
    );
    expect(made.filter((id) => id.startsWith('all-')).sort()).toEqual(
      Array.from({ length: 10 }, (_, index) => `all-${index + 1}`).sort(),
    );
    expect(await scheduleOf(bench)).toMatchObject({ made: 3, missed: 27 });
    expect(await scheduleOf(bench, 'late')).toMatchObject({ made: 0, missed: 1, recent: [{ outcome: 'missed' }] });
  });

  it('add nothing while paused, and do not make up run times within the pause', async () => {
    const bench = await open();
    const store = storeOf(bench);
    await setSchedule(store, 's', minutely({ overlap: 'allow', backlog: null }));
    expect(await pauseSchedule(store, 's', 'the disk')).toMatchObject({ ok: true, schedule: { note: 'the disk' } });
    await passMinutes(bench, 3);
    expect(await idsOf(bench)).toEqual([]);
    await resumeSchedule(store, 's');
    await passMinutes(bench, 1);
    expect(await idsOf(bench)).toEqual([`s@${SLOT}10:00Z`]);
    expect(outcomeOf(await pauseSchedule(store, 'nobody', null))).toBe('not-found');
  });

  it('run by hand at any time, and count that job as their own', async () => {
    const bench = await open();
    const store = storeOf(bench);
    await setSchedule(store, 's', minutely({ overlap: 'skip' }));
    const ran = await runScheduleNow(store, 's');
    if (!ran.ok) throw new Error(ran.refusal.message);
    expect(ran.id).toMatch(/^s@2025-06-15T15:06:40[.0-9]*Z~now$/);
    expect(await bench.job(ran.id)).toMatchObject({ state: 'waiting', tags: ['schedule:s'] });
    await passMinutes(bench, 1);
    expect(await idsOf(bench)).toEqual([ran.id]);
    expect(await scheduleOf(bench)).toMatchObject({ made: 1, skipped: 1 });
    expect(outcomeOf(await runScheduleNow(store, 'nobody'))).toBe('not-found');
  });

  it('are unchanged when defined again, and keep their progress when changed', async () => {
    const bench = await open();
    const store = storeOf(bench);
    expect((await setSchedule(store, 's', minutely({ overlap: 'allow' }))).outcome).toBe('created');
    await passMinutes(bench, 2);
    const before = await scheduleOf(bench);
    expect((await setSchedule(store, 's', { ...minutely({ overlap: 'allow' }), catchUp: '24h' })).outcome).toBe(
      'unchanged',
    );
    expect((await setSchedule(store, 's', minutely({ overlap: 'allow', data: 7 }))).outcome).toBe('changed');
    expect(await scheduleOf(bench)).toMatchObject({ mark: before.mark, made: 2, createdAt: before.createdAt });
    // Another rule starts now: its earlier run times were never requested.
    bench.pass(10 * MINUTE_MS);
    await setSchedule(store, 's', { every: '1m', queue: 'q', overlap: 'allow', backlog: null });
    await checkSchedules(bench);
    expect(await idsOf(bench)).toHaveLength(2);
    await passMinutes(bench, 1);
    expect(await idsOf(bench)).toHaveLength(3);
    expect(outcomeOf(await deleteSchedule(store, 's'))).toBe('ok');
    expect(outcomeOf(await deleteSchedule(store, 's'))).toBe('not-found');
    await passMinutes(bench, 2);
    expect(await idsOf(bench)).toHaveLength(3);
  });

  it('continue after a queue was down and a unique key was taken', async () => {
    const bench = await open();
    await setSchedule(storeOf(bench), 's', minutely({ overlap: 'allow', options: { unique: 'k' } }));
    await bench.setQueue('q', { state: 'down' });
    await passMinutes(bench, 1);
    await bench.setQueue('q', { state: 'up' });
    await passMinutes(bench, 2);
    expect(await idsOf(bench)).toEqual([`s@${SLOT}08:00Z`]);
    expect((await scheduleOf(bench)).recent.map(({ outcome }) => outcome)).toEqual(['duplicate', 'made', 'refused']);
  });
}
