import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { JobStore } from '../../core/ports/job-store.ts';
import { CALL_DEADLINE_MS } from '../outcome/deadline.ts';
import { ClaimLoop } from './claim-loop.ts';
import { StoreAvailability } from './store-availability.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('makes no claim after it was given up, though one is still unanswered then', async () => {
  let claims = 0;
  const jobs = { claim: () => new Promise(() => (claims += 1)) } as unknown as JobStore;
  const loop: ClaimLoop = new ClaimLoop({
    jobs,
    queues: ['q'],
    availability: new StoreAvailability({ onUnavailable: () => undefined, onBack: () => undefined }),
    room: () => 1,
    offers: () => undefined,
    workerId: () => 'w',
    newId: () => `r-${claims}`,
    random: () => 0.5,
    schedule: () => queueMicrotask(() => loop.flush()),
    onSent: () => undefined,
    onClaimed: () => undefined,
    onTrouble: () => undefined,
  });
  loop.flush();
  const stopped = loop.stop();
  loop.giveUp();
  await vi.advanceTimersByTimeAsync(CALL_DEADLINE_MS * 10);
  expect(claims).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
  await stopped;
});
