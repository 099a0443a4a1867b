/** What makes jobs alike, and which changes serve as a pattern. */
import { describe, expect, it } from 'vitest';
import type { Job, Lease, RunningJob } from '../job/job.ts';
import { NO_SLOTS } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { claimed, created, settled } from '../lifecycle/lifecycle.ts';
import type { NewJob, Settlement } from '../ports/job-store.ts';
import type { Table } from '../ports/table.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { settingsOf } from '../settings/settings.ts';
import { isAlike, isSameChange, patternOf } from './alike.ts';

const settings = settingsOf(undefined);
const added = (input: Partial<NewJob> = {}): Job =>
  created({ id: 'a', queue: 'q', data: '1', ...input }, { now: 1, seq: 1, settings }).job;
const start = (job: Job): Transition => claimed(job, { now: 5, token: 7, worker: 'w', leaseMs: 10 });
const tableWith = (changed: Partial<QueueSettings>): Table =>
  ({ settings: () => ({ ...settings, ...changed }) }) as unknown as Table;
const pattern = (job: Job, changed: Partial<QueueSettings> = {}) => patternOf(tableWith(changed), job, start(job));

/** A value that differs from each that a job has. */
const OTHER = { is: 'another value' };

describe('jobs are alike', () => {
  const running = start(added()).job;

  it.each(['id', 'data', 'seq', 'priority', 'createdAt', 'runAt'])('whatever their %s is', (field) => {
    expect(isAlike(running, { ...running, [field]: OTHER })).toBe(true);
  });

  const own = ['id', 'data', 'seq', 'priority', 'createdAt', 'runAt', 'lease'];
  it.each(Object.keys(running).filter((field) => !own.includes(field)))('only with the same %s', (field) => {
    expect(isAlike(running, { ...running, [field]: OTHER })).toBe(false);
  });

  it.each(Object.keys(running.lease ?? {}).filter((field) => field !== 'token'))(
    'only with the same %s of the lease',
    (field) => {
      const lease = { ...running.lease, [field]: OTHER } as unknown as Lease;
      expect(isAlike(running, { ...running, lease })).toBe(false);
    },
  );

  it('whatever the token of the lease is, but only if both have one', () => {
    expect(isAlike(running, { ...running, lease: { ...(running.lease as Lease), token: 8 } })).toBe(true);
    expect(isAlike(running, { ...running, lease: null })).toBe(false);
  });
});

describe('a change is a pattern', () => {
  it('if only the job changed', () => {
    expect(pattern(added())).not.toBeNull();
  });

  it.each<[string, Partial<NewJob>]>([
    ['a throttle', { policy: { throttles: ['t'] } }],
    ['needs', { policy: { needs: 'cpu=1' } }],
    ['a webhook', { policy: { hooks: [{ url: 'http://localhost', on: ['done'] }] as never } }],
    ['a unique key', { unique: { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 } }],
  ])('but not of a job with %s', (_, input) => {
    expect(pattern(added(input))).toBeNull();
  });

  it.each<[string, Partial<Job>]>([
    ['parents', { parents: { of: 1, open: 0, bad: 0 } }],
    ['dependents', { dependents: 1 }],
    ['jobs coalesced into it', { folded: 1 }],
    ['a slot', { slots: [...NO_SLOTS, 't:a'] }],
    ['steps', { steps: { count: 1, bytes: 1 } as never }],
    ['a suspension', { suspension: { until: null, event: null, ranMs: 1 } }],
    ['a coalesce key', { coalesceKey: 'k' }],
    ['a leader', { foldedInto: 'b' }],
  ])('but not of a job with %s', (_, changed) => {
    expect(pattern({ ...added(), ...changed })).toBeNull();
  });

  it.each<[string, Partial<QueueSettings>]>([
    ['keys', { keys: { by: ['n'], limit: null } as never }],
    ['coalescing', { coalesce: { by: ['n'], scheduled: false } }],
    ['a maximum of running jobs', { maxRunning: 5 }],
    ['throttles', { throttles: ['t'] }],
    ['needs', { needs: 'cpu=1' }],
    ['webhooks', { hooks: [{ url: 'http://localhost', on: ['done'] }] as never }],
  ])('but not in a queue with %s', (_, changed) => {
    expect(pattern(added(), changed)).toBeNull();
  });
});

describe('changes are the same', () => {
  const running = start(added({ policy: { retries: 1 } })).job as RunningJob;
  const failure = { group: 'g', message: 'm', detail: null };
  const change = (settlement: Partial<Settlement>, job = running): Transition =>
    settled(job, { id: 'a', token: 7, kind: 'retry', failure, delayMs: 3, ...settlement } as Settlement, settings, 9);
  const isSame = (before: RunningJob, after: Transition): boolean => {
    const first = change({});
    return isSameChange({ before: running, change: first }, before, after);
  };

  it('for retries with the same failure and time', () => {
    expect(isSame(running, change({}))).toBe(true);
  });

  it.each<[string, Partial<Settlement>]>([
    ['another failure', { failure: { ...failure } }],
    ['another delay', { delayMs: 4 }],
    ['another kind', { kind: 'fail' }],
    ['no failure', { kind: 'complete' }],
  ])('but not with %s', (_, settlement) => {
    expect(isSame(running, change(settlement))).toBe(false);
  });

  it('but not if one of the jobs has its run time already', () => {
    const due = { ...running, runAt: 12 };
    expect(isSame(due, change({}, due))).toBe(false);
    expect(isSameChange({ before: due, change: change({}, due) }, running, change({}))).toBe(false);
  });

  it('but not for cancelled jobs whose attempts ended differently', () => {
    const asked = { ...running, lease: { ...running.lease, cancelAskedAt: 8 } };
    const first = { before: asked, change: change({ kind: 'complete' }, asked) };
    expect(isSameChange(first, asked, change({ kind: 'complete' }, asked))).toBe(true);
    expect(isSameChange(first, asked, change({}, asked))).toBe(false);
  });
});
