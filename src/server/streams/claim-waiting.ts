/**
 * A claim that may wait for work: it answers when there is something, or when its time is over.
 *
 * It listens before it looks, so that no job slips in between, and looks once a second besides. Nobody claims for a
 * caller who has gone: the jobs would stand still until their leases end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimRequest, ClaimResult, JobStore } from '../../core/ports/job-store.ts';

export interface Waiting {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export const MAX_WAIT_MS = 60_000;
const LOOK_EVERY_MS = 1_000;
const LEAST_PAUSE_MS = 10;

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
      // An empty claim is not remembered under its request id, so the same one may be made again.
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
  return nextAt === null ? LOOK_EVERY_MS : Math.min(LOOK_EVERY_MS, Math.max(LEAST_PAUSE_MS, nextAt - now));
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
