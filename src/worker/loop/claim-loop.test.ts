import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { aLoop } from '../../../test/support/claim-loop.ts';
import { CALL_DEADLINE_MS } from '../outcome/deadline.ts';
import { BusyPoll } from './busy-poll.ts';
import type { ClaimLoopOptions } from './claim-loop.ts';
import { POLL_MS } from './claim-wait.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A loop with requests r-1 and r-2 in flight, of 20 jobs each. */
async function aLoopWithTwo(options: Partial<ClaimLoopOptions> = {}) {
  const made = aLoop(options);
  made.loop.flush();
  await made.at(0).answer(20);
  await made.end(20);
  expect(made.ids()).toEqual(['r-0', 'r-1', 'r-2']);
  return made;
}

it('makes no claim after it was given up, though one is still unanswered then', async () => {
  const { loop, sent } = aLoop();
  loop.flush();
  const stopped = loop.stop();
  loop.giveUp();
  await vi.advanceTimersByTimeAsync(CALL_DEADLINE_MS * 10);
  expect(sent).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
  await stopped;
});

it('makes claims that may be synced later only if the attempts end with the process', () => {
  const syncs = [true, false, undefined].map((endsWithProcess) => {
    const { loop, at } = aLoop({ ...(endsWithProcess !== undefined && { endsWithProcess }) });
    loop.flush();
    return at(0).sync;
  });
  expect(syncs).toEqual(['later', undefined, undefined]);
});

it('polls busily for the answer to a claim with a reason, and not for that of the fallback poll', async () => {
  const start = vi.spyOn(BusyPoll.prototype, 'start');
  onTestFinished(() => start.mockRestore());
  const { loop, sent, at, turn } = aLoop();
  loop.flush();
  await at(0).answer(0);
  await vi.advanceTimersByTimeAsync(POLL_MS);
  await at(1).answer(0);
  expect([sent.length, start.mock.calls.length]).toEqual([2, 0]);
  loop.wake();
  await turn();
  expect([sent.length, start.mock.calls.length]).toEqual([3, 1]);
});

it('does not poll busily while a job runs', async () => {
  const start = vi.spyOn(BusyPoll.prototype, 'start');
  onTestFinished(() => start.mockRestore());
  const { loop, at, turn } = aLoop();
  loop.flush();
  await at(0).answer(1);
  loop.wake();
  await turn();
  expect(at(1).request.limit).toBe(20);
  expect(start).not.toHaveBeenCalled();
});

describe('two requests in flight', () => {
  it('are sent while there is more work, and ask for no more than the free slots', async () => {
    const { at, end, ids } = await aLoopWithTwo();
    expect([at(1), at(2)].map(({ request }) => request.limit)).toEqual([20, 20]);
    await end(0);
    expect(ids()).toHaveLength(3);
    await at(1).answer(20);
    expect(ids()).toHaveLength(3);
    await end(15);
    expect(at(3).request.limit).toBe(15);
  });

  it('are one while less than half a share of slots is free', async () => {
    const { at, end, ids } = await aLoopWithTwo();
    await at(1).answer(20);
    await end(9);
    expect(ids()).toHaveLength(3);
    await end(1);
    expect(at(3).request.limit).toBe(10);
  });

  it('are one after an answer that was not full, in a small worker, and where only one is allowed', async () => {
    const { loop, at, end, ids } = aLoop();
    loop.flush();
    await at(0).answer(19);
    await end(19);
    expect(ids()).toEqual(['r-0', 'r-1']);
    await end(0);
    expect(ids()).toHaveLength(2);
    for (const options of [{ concurrency: () => 15 }, { maxRequests: 1 as const }]) {
      const other = aLoop(options);
      other.loop.flush();
      await other.at(0).answer(other.at(0).request.limit);
      await other.end(other.at(0).request.limit);
      expect(other.ids()).toHaveLength(2);
    }
  });

  it('are not followed by a third before the first is answered', async () => {
    const { at, end, ids } = await aLoopWithTwo();
    await at(2).answer(20);
    await end(20);
    expect(ids()).toHaveLength(3);
    await at(1).answer(20);
    await end(20);
    expect(ids().slice(3)).toEqual(['r-3', 'r-4']);
  });

  it('are each repeated under their own id, and nothing new is claimed until both are answered', async () => {
    const { at, end, ids, turn } = await aLoopWithTwo();
    await at(1).lose();
    await at(2).lose();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ids().slice(3)).toEqual(['r-1', 'r-2']);
    await at(4).answer(20);
    await end(20);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ids()).toHaveLength(5);
    await at(3).lose();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ids().slice(5)).toEqual(['r-1']);
    await at(5).answer(20);
    await turn();
    expect(ids().slice(6)).toEqual(['r-6']);
  });

  it('are one while the newest is repeated', async () => {
    const { at, end, ids } = await aLoopWithTwo();
    await at(1).answer(20);
    await at(2).lose();
    await vi.advanceTimersByTimeAsync(1_000);
    await end(20);
    expect(ids().slice(3)).toEqual(['r-2']);
    await at(3).answer(20);
    expect(ids().slice(4)).toEqual(['r-4']);
  });

  it('are both answered before the loop is stopped', async () => {
    const { loop, at, turn } = await aLoopWithTwo();
    const ends: string[] = [];
    void loop.stop().then(() => ends.push('stopped'));
    await at(1).answer(20);
    await turn();
    expect(ends).toEqual([]);
    await at(2).answer(20);
    await turn();
    expect(ends).toEqual(['stopped']);
  });

  it('become none while the loop is paused', async () => {
    const { loop, at, end, ids } = await aLoopWithTwo();
    loop.pause();
    await at(1).answer(20);
    await at(2).answer(20);
    await end(40);
    expect(ids()).toHaveLength(3);
    loop.resume();
    await end(0);
    expect(ids()).toHaveLength(4);
  });
});
