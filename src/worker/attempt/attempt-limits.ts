/** The limits of one attempt: how long it may run, and for how long it may give no sign of life. Both are off by default. */
import type { RunningJob } from '../../core/job/job.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { MAX_TIMER_MS } from '../outcome/deadline.ts';
import { monotonicMs } from '../outcome/monotonic.ts';

export interface Limits {
  readonly maxRuntimeMs: number | null;
  readonly maxSilenceMs: number | null;
}

export interface LimitWatch {
  /** A sign of life. */
  alive(): void;
  /** It ran for so long under an earlier process. */
  ranBefore(ms: number): void;
  /** While it stands still, no time passes for it. */
  standStill(isStill: boolean): void;
  end(): void;
}

export function limitsOf(job: RunningJob, settings: QueueSettings): Limits {
  return {
    maxRuntimeMs: job.policy.maxRuntimeMs ?? settings.maxRuntimeMs,
    maxSilenceMs: job.policy.maxSilenceMs ?? settings.maxSilenceMs,
  };
}

/** Null when there is no limit, so that an attempt without one pays nothing. */
export function watchLimits(limits: Limits, stop: (reason: 'time-out' | 'silent') => void): LimitWatch | null {
  const { maxRuntimeMs, maxSilenceMs } = limits;
  if (maxRuntimeMs === null && maxSilenceMs === null) return null;
  let startedAt = monotonicMs();
  let aliveAt = startedAt;
  let stillSince: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  const look = (): void => {
    const now = monotonicMs();
    const runtimeLeft = startedAt + (maxRuntimeMs ?? Number.POSITIVE_INFINITY) - now;
    const silenceLeft = aliveAt + (maxSilenceMs ?? Number.POSITIVE_INFINITY) - now;
    if (runtimeLeft <= 0) return stop('time-out');
    if (silenceLeft <= 0) return stop('silent');
    // A limit that is longer than a timer can wait is waited for in pieces.
    timer = setTimeout(look, Math.min(Math.ceil(Math.min(runtimeLeft, silenceLeft)), MAX_TIMER_MS));
  };
  const lookAgain = (): void => {
    if (timer !== null) clearTimeout(timer);
    if (stillSince === null) look();
  };
  look();
  return {
    alive: () => {
      aliveAt = monotonicMs();
    },
    ranBefore(ms) {
      startedAt -= ms;
      lookAgain();
    },
    standStill(isStill) {
      if (isStill === (stillSince !== null)) return;
      const stoodMs = monotonicMs() - (stillSince ?? monotonicMs());
      startedAt += stoodMs;
      aliveAt += stoodMs;
      stillSince = isStill ? monotonicMs() : null;
      lookAgain();
    },
    end: () => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
