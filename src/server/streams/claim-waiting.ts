/**
 * A claim that can wait for work. It returns when it has claimed jobs, or after a time limit.
 *
 * It subscribes before it claims, so that no job is missed in between, and polls once a second as well. It does not claim
 * for a caller that has disconnected: the jobs would idle until their leases expire.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimRequest, ClaimResult, JobStore } from '../../core/ports/job-store.ts';

export interface Waiting {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export const MAX_WAIT_MS = 60_000;
const POLL_EVERY_MS = 1_000;
const MIN_PAUSE_MS = 10;

export async function claimWaiting(
  jobs: JobStore,
  request: ClaimRequest,
  { waitMs, signal }: Waiting,
): Promise<ClaimResult> {
  const endAt = performance.now() + Math.min(waitMs, MAX_WAIT_MS);
  for (;;) {
    const work = new AbortController();
    const unsubscribe = jobs.subscribe((events) => {
      if (
        events.some(
          ({ type, state, queue }) =>
            (state === 'waiting' || type === 'queue' || type === 'freed') && request.queues.includes(queue),
        )
      )
        work.abort();
    });
    try {
      // A store does not remember an empty claim, so the same request id can be used again.
      const result = await jobs.claim(request);
      const leftMs = endAt - performance.now();
      if (result.jobs.length > 0 || leftMs <= 0 || signal.aborted) return result;
      await pause(Math.min(leftMs, msUntilNext(result)), AbortSignal.any([work.signal, signal]));
      if (signal.aborted) return result;
    } finally {
      unsubscribe();
    }
  }
}

function msUntilNext({ now, nextAt }: ClaimResult): number {
  return nextAt === null ? POLL_EVERY_MS : Math.min(POLL_EVERY_MS, Math.max(MIN_PAUSE_MS, nextAt - now));
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
