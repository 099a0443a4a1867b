/** Computes the delay before another attempt. Random numbers are passed in, never drawn here. */
import type { Backoff } from '../job/job.ts';

export const DEFAULT_BACKOFF: Backoff = {
  kind: 'exponential',
  delayMs: 10_000,
  maxMs: 3_600_000,
  jitter: 0.2,
  delaysMs: [],
};

/**
 * Returns the delay after a failure. `failures` includes the latest one, so it is at least 1. `random` is in [0, 1).
 */
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

/**
 * Returns the delay after a crash. A single crash says nothing about the job; from the second on the job is suspect.
 */
export function crashDelayMs(crashes: number): number {
  return crashes < 2 ? 0 : Math.min(CRASH_DELAY_MS * 2 ** Math.min(crashes - 2, 20), CRASH_DELAY_MAX_MS);
}
