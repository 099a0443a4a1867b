/** How long a job waits before another attempt. Randomness is given, never drawn here. */
import type { Backoff } from '../job/job.ts';

export const DEFAULT_BACKOFF: Backoff = {
  kind: 'exponential',
  delayMs: 10_000,
  maxMs: 3_600_000,
  jitter: 0.2,
  delaysMs: [],
};

/** `failures` counts the one that just happened, so it is at least 1. `random` is in [0, 1). */
export function backoffMs(backoff: Backoff, failures: number, random: number): number {
  const whole = Math.min(baseMs(backoff, failures), backoff.maxMs);
  return Math.round(whole * (1 - backoff.jitter * random));
}

function baseMs(backoff: Backoff, failures: number): number {
  switch (backoff.kind) {
    case 'fixed':
      return backoff.delayMs;
    case 'exponential':
      return backoff.delayMs * 2 ** Math.min(failures - 1, 52);
    case 'list':
      return backoff.delaysMs[Math.min(failures, backoff.delaysMs.length) - 1] ?? backoff.delayMs;
  }
}

const CRASH_DELAY_MS = 10_000;
const CRASH_DELAY_MAX_MS = 3_600_000;

/** The first crash is somebody's bad luck; from the second on the job itself is under suspicion. */
export function crashDelayMs(crashes: number): number {
  return crashes < 2 ? 0 : Math.min(CRASH_DELAY_MS * 2 ** Math.min(crashes - 2, 20), CRASH_DELAY_MAX_MS);
}
