/** Claims that wait in the store, with a store that is answered by hand. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { aLoop } from '../../../test/support/claim-loop.ts';
import { CALL_DEADLINE_MS } from '../outcome/deadline.ts';
import { BusyPoll } from './busy-poll.ts';
import type { ClaimLoopOptions } from './claim-loop.ts';
import { POLL_MS } from './claim-wait.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A loop with claim r-1, which waits. */
async function aWaitingLoop(options: Partial<ClaimLoopOptions> = {}, nextAt?: number) {
  const made = aLoop({ mayWait: () => true, ...options });
  made.loop.flush();
  await made.at(0).answer(0, nextAt);
  const waits = () => made.sent.map(({ wait }) => wait !== undefined);
  return { ...made, waits };
}

/** A loop whose store has answered a waiting claim at once. */
async function aLoopWithoutWaiting() {
  const made = await aWaitingLoop();
  await made.at(1).answer(0);
  return made;
}

it('a claim of an idle worker waits after an answer without jobs, and nothing else is sent meanwhile', async () => {
  const { loop, at, waits, turn } = await aWaitingLoop();
  expect(waits()).toEqual([false, true]);
  expect(at(1).wait?.ms).toBe(POLL_MS);
  loop.wake();
  loop.wakeForAdd();
  await turn();
  await pass(POLL_MS - 1);
  expect(waits()).toHaveLength(2);
  expect(loop.mustWait).toBe(false);
});

it('a claim that waited in vain is followed by another, one a second', async () => {
  const { at, waits } = await aWaitingLoop();
  for (let claim = 1; claim <= 5; claim += 1) {
    await pass(POLL_MS);
    await at(claim).answer(0);
  }
  expect(waits()).toEqual([false, true, true, true, true, true, true]);
});

it('a claim waits no longer than until the next job is due', async () => {
  const { at } = await aWaitingLoop({}, 70);
  expect(at(1).wait?.ms).toBe(70);
});

it('no claim waits while a job runs, after an answer with jobs, or where it may not', async () => {
  const { at, end, waits } = await aWaitingLoop();
  await at(1).answer(3);
  await end(1);
  expect(waits()).toEqual([false, true, false]);
  await at(2).answer(0);
  await pass(POLL_MS);
  expect(waits().slice(3)).toEqual([false]);
  const other = await aWaitingLoop({ mayWait: () => false });
  expect(other.waits()).toEqual([false]);
});

it('a job for a waiting claim is followed by another claim only after an event other than its add', async () => {
  const { loop, at, sent } = await aWaitingLoop();
  loop.wakeForAdd();
  await at(1).answer(1);
  expect(sent).toHaveLength(2);
  const other = await aWaitingLoop();
  other.loop.wake();
  await other.at(1).answer(1);
  expect(other.waits()).toEqual([false, true, false]);
});

it('an add that follows is claimed at once while no claim waits', async () => {
  const { loop, at, waits, turn } = await aWaitingLoop();
  await at(1).answer(1);
  loop.wakeForAdd();
  await turn();
  expect(waits()).toEqual([false, true, false]);
});

it('a waiting claim does not poll busily', async () => {
  const start = vi.spyOn(BusyPoll.prototype, 'start');
  onTestFinished(() => start.mockRestore());
  const { loop, at, waits } = await aWaitingLoop();
  loop.wake();
  await pass(POLL_MS);
  await at(1).answer(0);
  expect(waits()).toEqual([false, true, true]);
  expect(start).not.toHaveBeenCalled();
});

describe('in a store that does not wait', () => {
  it('claims follow once a second, as before', async () => {
    const { at, sent } = await aLoopWithoutWaiting();
    await pass(POLL_MS - 1);
    expect(sent).toHaveLength(2);
    await pass(1);
    expect(sent).toHaveLength(3);
    await at(2).answer(0);
    await pass(POLL_MS);
    expect(sent).toHaveLength(4);
  });

  it('an event during a claim is not lost', async () => {
    const { loop, at, waits } = await aWaitingLoop();
    loop.wake();
    await at(1).answer(0);
    expect(waits()).toEqual([false, true, false]);
  });

  it('a claim after an event does not wait', async () => {
    const { loop, turn, waits } = await aLoopWithoutWaiting();
    loop.wake();
    await turn();
    expect(waits()).toEqual([false, true, false]);
  });
});

describe('a waiting claim is withdrawn', () => {
  it.each(['stop', 'pause', 'giveUp', 'wakeNow', 'forget'] as const)('by %s', async (end) => {
    const { loop, at } = await aWaitingLoop();
    expect(at(1).wait?.signal.aborted).toBe(false);
    void loop[end]();
    expect(at(1).wait?.signal.aborted).toBe(true);
  });

  it('and the store that listens is told once, unless it stopped listening', async () => {
    const { loop, at } = await aWaitingLoop();
    const told: string[] = [];
    const other = () => void told.push('other');
    at(1).wait?.signal.addEventListener('abort', other);
    at(1).wait?.signal.addEventListener('abort', () => void told.push('store'));
    at(1).wait?.signal.removeEventListener('abort', other);
    loop.pause();
    loop.wakeNow();
    expect(told).toEqual(['store']);
  });

  it('and the loop stops when it is answered', async () => {
    const { loop, at, sent, turn } = await aWaitingLoop();
    const ends: string[] = [];
    void loop.stop().then(() => ends.push('stopped'));
    await turn();
    expect(ends).toEqual([]);
    await at(1).answer(0);
    expect(ends).toEqual(['stopped']);
    expect([sent.length, vi.getTimerCount()]).toEqual([2, 0]);
  });

  it('and another follows for the new size, or when the pause is over', async () => {
    const resized = await aWaitingLoop();
    resized.loop.wakeNow();
    await resized.at(1).answer(0);
    expect(resized.waits()).toEqual([false, true, true]);
    const paused = await aWaitingLoop();
    paused.loop.pause();
    await paused.at(1).answer(0);
    await pass(2 * POLL_MS);
    expect(paused.sent).toHaveLength(2);
    paused.loop.resume();
    await paused.turn();
    expect(paused.waits()).toEqual([false, true, true]);
  });
});

it('a waiting claim counts as lost when the deadline has passed after its wait, and is repeated without one', async () => {
  const { ids, waits } = await aWaitingLoop();
  await pass(CALL_DEADLINE_MS + POLL_MS - 1);
  expect(ids()).toEqual(['r-0', 'r-1']);
  await pass(1 + POLL_MS);
  expect(ids()).toEqual(['r-0', 'r-1', 'r-1']);
  expect(waits()).toEqual([false, true, false]);
});
