import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { watchStore } from './store-watch.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('reports a closed store once, although no other call is made', async () => {
  const store = openMemoryStore({ clock: 'caller' });
  const errors: unknown[] = [];
  const watch = watchStore(store, (error) => errors.push(error));
  onTestFinished(() => watch.stop());
  await vi.advanceTimersByTimeAsync(10_000);
  expect(errors).toEqual([]);
  await store.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(errors).toMatchObject([{ code: 'store-closed' }]);
});

it('reports nothing after it was stopped', async () => {
  const store = openMemoryStore({ clock: 'caller' });
  const errors: unknown[] = [];
  const watch = watchStore(store, (error) => errors.push(error));
  await vi.advanceTimersByTimeAsync(1_500);
  watch.stop();
  await store.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(errors).toEqual([]);
});
