import { describe, expect, it } from 'vitest';
import type { RunningJob } from '../../core/job/job.ts';
import { claimed, created } from '../../core/lifecycle/lifecycle.ts';
import { settingsOf } from '../../core/settings/settings.ts';
import type { AttemptOutcome } from '../attempt/run-outcome.ts';
import type { StopReason } from '../attempt/stop-reason.ts';
import { toSettlement } from './to-settlement.ts';

const settings = settingsOf({
  backoff: { kind: 'exponential', delayMs: 1_000, maxMs: 60_000, jitter: 0, delaysMs: [] },
  maxRuntimeMs: 5_000,
  maxSilenceMs: 500,
});
const aJob = (changes: Partial<RunningJob> = {}): RunningJob => {
  const { job } = created({ id: 'a', queue: 'q', data: '{}' }, { now: 0, seq: 1, settings });
  const running = claimed(job, { now: 0, token: 7, worker: 'w', leaseMs: 60_000 }).job as RunningJob;
  return { ...running, ...changes };
};
const failure = { group: 'g', message: 'm', detail: null };
const fail: AttemptOutcome = { kind: 'fail', failure };
const complete: AttemptOutcome = { kind: 'complete', result: '1' };
const decide = (outcome: AttemptOutcome | null, stopReason: StopReason | null = null, job = aJob()) =>
  toSettlement(job, outcome, { stopReason, settings, random: 0 });

describe('an attempt that was not stopped', () => {
  it.each<AttemptOutcome>([
    complete,
    { kind: 'complete', data: '{}', next: { queue: 'p', delayMs: 5 } },
    { kind: 'resend', delayMs: 9, reason: 'later' },
    { kind: 'release', reason: 'not me' },
    { kind: 'forward', address: 'http://there/q/x' },
    { kind: 'retry', failure, delayMs: 3 },
    { kind: 'fail', failure, delayMs: 4, final: true },
  ])('is settled as it ended: %o', (outcome) => {
    expect(decide(outcome)).toEqual({ id: 'a', token: 7, ...outcome });
  });

  it('waits before its next attempt for the backoff of the queue, longer after each failure', () => {
    expect(decide(fail)).toMatchObject({ kind: 'fail', delayMs: 1_000 });
    expect(decide(fail, null, aJob({ failures: 2 }))).toMatchObject({ delayMs: 4_000 });
    expect(decide({ kind: 'retry', failure }, null, aJob({ failures: 1 }))).toMatchObject({ delayMs: 2_000 });
  });

  it('waits for the backoff of the job, where it has one', () => {
    const backoff = { kind: 'fixed', delayMs: 77, maxMs: 100, jitter: 0, delaysMs: [] } as const;
    expect(decide(fail, null, aJob({ policy: { backoff } }))).toMatchObject({ delayMs: 77 });
  });
});

describe('an attempt that was stopped', () => {
  it.each(['time-out', 'silent'] as const)('has failed by its limit, whatever its outcome: %s', (reason) => {
    const group = reason === 'silent' ? 'silent' : 'timeout';
    for (const outcome of [complete, fail, null])
      expect(decide(outcome, reason)).toMatchObject({ kind: 'fail', failure: { group }, delayMs: 1_000 });
  });

  it('names the limit, and whether its code may still be running', () => {
    expect(decide(fail, 'time-out')).toMatchObject({ failure: { message: 'it ran longer than 5 s', detail: null } });
    expect(decide(null, 'silent')).toMatchObject({ failure: { message: 'no sign of life for 0.5 s' } });
    expect(decide(null, 'silent')).toMatchObject({ failure: { detail: expect.stringContaining('may still') } });
    expect(decide(null, 'time-out', aJob({ policy: { maxRuntimeMs: 1_000 } }))).toMatchObject({
      failure: { message: 'it ran longer than 1 s' },
    });
  });

  it.each(['draining', 'unreachable'] as const)('is interrupted and has not failed: %s', (reason) => {
    expect(decide(fail, reason)).toMatchObject({ kind: 'release' });
    expect(decide(null, reason)).toMatchObject({ kind: 'release', reason: expect.stringContaining('may still run') });
    expect(decide(complete, reason)).toMatchObject({ kind: 'complete', result: '1' });
    expect(decide({ ...fail, final: true }, reason)).toMatchObject({ kind: 'fail', final: true });
  });

  it('is settled as it ended after a cancel, which the store turns into cancelled', () => {
    expect(decide(complete, 'cancel')).toMatchObject({ kind: 'complete' });
    expect(decide(fail, 'cancel')).toMatchObject({ kind: 'fail' });
    expect(decide(null, 'cancel')).toMatchObject({ kind: 'release', reason: expect.stringContaining('may still run') });
  });

  it('settles a late result after the loss of its lease, but not its abort', () => {
    const reason = 'lease-lost';
    expect(decide(complete, reason)).toMatchObject({ kind: 'complete', token: 7 });
    expect(decide({ kind: 'forward', address: 'x' }, reason)).toMatchObject({ kind: 'forward' });
    expect(decide(fail, reason)).toBeNull();
    expect(decide({ kind: 'release', reason: 'x' }, reason)).toBeNull();
    expect(decide(null, reason)).toBeNull();
  });
});
