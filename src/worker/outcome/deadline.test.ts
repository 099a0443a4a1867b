import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SharedDeadline } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new Promise<string>(() => undefined);

/** Returns a list in which the outcome will stand. */
function outcomeOf(call: Promise<string>): string[] {
  const seen: string[] = [];
  call.then(
    (answer) => seen.push(answer),
    (error: Error) => seen.push(error.message),
  );
  return seen;
}

it('rejects each call at its own time, though they share a timer', async () => {
  const deadline = new SharedDeadline(1_000);
  const first = outcomeOf(deadline.limit(never));
  await vi.advanceTimersByTimeAsync(400);
  const second = outcomeOf(deadline.limit(never));
  await vi.advanceTimersByTimeAsync(599);
  expect(first).toEqual([]);
  await vi.advanceTimersByTimeAsync(2);
  expect(first).toEqual(['the store did not answer in 1000 ms']);
  expect(second).toEqual([]);
  await vi.advanceTimersByTimeAsync(400);
  expect(second).toEqual(['the store did not answer in 1000 ms']);
  expect(vi.getTimerCount()).toBe(0);
});

it('passes on answers and errors, and keeps nothing of them', async () => {
  const deadline = new SharedDeadline(1_000);
  expect(await deadline.limit(Promise.resolve('yes'))).toBe('yes');
  await expect(deadline.limit(Promise.reject(new Error('no')))).rejects.toThrow('no');
  deadline.end();
  expect(vi.getTimerCount()).toBe(0);
  const late = outcomeOf(deadline.limit(never));
  await vi.advanceTimersByTimeAsync(999);
  deadline.end();
  expect(late).toEqual([]);
  await vi.advanceTimersByTimeAsync(2);
  expect(late).toHaveLength(1);
});
