import { expect, it } from 'vitest';
import type { StoreEvent, StoreEventType } from '../../core/ports/job-store.ts';
import { GatheredEvents } from './event-batch.ts';

const event = (id: string, type: StoreEventType, queue = 'q'): StoreEvent => ({ id, type, queue, state: 'waiting' });

it('combines the events of a job into one entry, with the queues it was in', () => {
  const gathered = new GatheredEvents();
  gathered.add([event('a', 'added'), event('b', 'added'), event('a', 'progress'), event('a', 'progress')]);
  gathered.add([event('a', 'moved', 'r'), event('', 'queue', 's')]);
  const { jobs, queues, isLost } = gathered.take();
  expect(jobs.map(({ id, types, queues: touched }) => [id, types, [...touched]])).toEqual([
    ['a', ['added', 'progress', 'moved'], ['q', 'r']],
    ['b', ['added'], ['q']],
  ]);
  expect(queues).toEqual(['s']);
  expect(isLost).toBe(false);
  expect(gathered.isEmpty).toBe(true);
});

it('keeps the last of many types', () => {
  const gathered = new GatheredEvents();
  for (let round = 0; round < 30; round += 1) gathered.add([event('a', 'claimed'), event('a', 'released')]);
  gathered.add([event('a', 'cancelled')]);
  const [job] = gathered.take().jobs;
  expect(job?.types.length).toBe(20);
  expect(job?.types.at(-1)).toBe('cancelled');
});

it('reports a loss when it gets more events than it can keep', () => {
  const gathered = new GatheredEvents();
  for (let number = 0; number <= 10_000; number += 1) gathered.add([event(`j${number}`, 'added')]);
  gathered.add([event('last', 'added')]);
  const { jobs, isLost } = gathered.take();
  expect(isLost).toBe(true);
  expect(jobs.map(({ id }) => id)).toEqual(['last']);
});
