/** A claim loop without a worker, for tests with fake timers. */
import { vi } from 'vitest';
import { LonghaulError } from '../../src/core/ports/errors.ts';
import type { CallOptions, ClaimRequest, ClaimResult, ClaimWait, JobStore } from '../../src/core/ports/job-store.ts';
import { ClaimLoop, type ClaimLoopOptions } from '../../src/worker/loop/claim-loop.ts';
import { StoreAvailability } from '../../src/worker/loop/store-availability.ts';

interface SentClaim {
  readonly request: ClaimRequest;
  readonly wait: ClaimWait | undefined;
  readonly sync: CallOptions['sync'];
  /** Answers with so many jobs, at time 0 of the store. */
  answer(jobs: number, nextAt?: number): Promise<unknown>;
  lose(): Promise<unknown>;
}

/** A loop whose claims are answered by hand, and whose jobs never end. */
export function aLoop(options: Partial<ClaimLoopOptions> = {}) {
  const sent: SentClaim[] = [];
  let running = 0;
  const turn = () => vi.advanceTimersByTimeAsync(0);
  const claim = (request: ClaimRequest, { wait, sync }: CallOptions = {}) =>
    new Promise<ClaimResult>((resolve, reject) => {
      sent.push({
        request,
        wait,
        sync,
        answer: (jobs, nextAt) => {
          resolve({ jobs: Array.from({ length: jobs }), now: 0, nextAt: nextAt ?? null } as unknown as ClaimResult);
          return turn();
        },
        lose: () => {
          reject(new LonghaulError('outcome-unknown', 'lost'));
          return turn();
        },
      });
    });
  const loop: ClaimLoop = new ClaimLoop({
    jobs: { claim } as unknown as JobStore,
    queues: ['q'],
    availability: new StoreAvailability({ onUnavailable: () => undefined, onBack: () => undefined }),
    room: () => 40 - running,
    concurrency: () => 40,
    maxRequests: 2,
    offers: () => undefined,
    mayWait: () => false,
    workerId: () => 'w',
    newId: () => `r-${sent.length}`,
    random: () => 0.5,
    schedule: () => queueMicrotask(() => loop.flush()),
    onSent: () => undefined,
    onClaimed: ({ jobs }) => void (running += jobs.length),
    onTrouble: () => undefined,
    ...options,
  });
  const end = (jobs: number): Promise<unknown> => {
    running -= jobs;
    loop.wake();
    return turn();
  };
  const at = (index: number) => sent[index] as SentClaim;
  const ids = () => sent.map(({ request }) => request.requestId);
  return { loop, sent, at, ids, end, turn };
}
