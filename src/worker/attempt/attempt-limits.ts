/** The limits of one attempt: its run time, and the time without a sign of life. Both are off by default. */
import type { RunningJob } from '../../core/job/job.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { MAX_TIMER_MS, monotonicMs } from '../outcome/deadline.ts';

export interface Limits {
  readonly maxRuntimeMs: number | null;
  readonly maxSilenceMs: number | null;
}

export interface LimitWatch {
  /** Records a sign of life. */
  alive(): void;
  /** Adds the run time under an earlier process. */
  ranBefore(ms: number): void;
  /** Stops and restarts the clock of both limits, for a paused attempt. */
  pauseLimits(isPaused: boolean): void;
  end(): void;
}

export function limitsOf(job: RunningJob, settings: QueueSettings): Limits {
  return {
    maxRuntimeMs: job.policy.maxRuntimeMs ?? settings.maxRuntimeMs,
    maxSilenceMs: job.policy.maxSilenceMs ?? settings.maxSilenceMs,
  };
}

/** Returns null when there is no limit, so that an attempt without one costs nothing. */
export function watchLimits(limits: Limits, stop: (reason: 'time-out' | 'silent') => void): LimitWatch | null {
  const { maxRuntimeMs, maxSilenceMs } = limits;
  if (maxRuntimeMs === null && maxSilenceMs === null) return null;
  let startedAt = monotonicMs();
  let aliveAt = startedAt;
  let pausedSince: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  const check = (): void => {
    const now = monotonicMs();
    const runtimeLeft = startedAt + (maxRuntimeMs ?? Number.POSITIVE_INFINITY) - now;
    const silenceLeft = aliveAt + (maxSilenceMs ?? Number.POSITIVE_INFINITY) - now;
    if (runtimeLeft <= 0) return stop('time-out');
    if (silenceLeft <= 0) return stop('silent');
    // A limit beyond the longest delay of a timer takes several timers.
    timer = setTimeout(check, Math.min(Math.ceil(Math.min(runtimeLeft, silenceLeft)), MAX_TIMER_MS));
  };
  const checkAgain = (): void => {
    if (timer !== null) clearTimeout(timer);
    if (pausedSince === null) check();
  };
  check();
  return {
    alive: () => {
      aliveAt = monotonicMs();
    },
    ranBefore(ms) {
      startedAt -= ms;
      checkAgain();
    },
    pauseLimits(isPaused) {
      if (isPaused === (pausedSince !== null)) return;
      const pausedMs = monotonicMs() - (pausedSince ?? monotonicMs());
      startedAt += pausedMs;
      aliveAt += pausedMs;
      pausedSince = isPaused ? monotonicMs() : null;
      checkAgain();
    },
    end: () => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
