import { expect, it } from 'vitest';
import { EventRing } from './event-ring.ts';

const push = (ring: EventRing, data: string) =>
  ring.push({ event: 'job', data, job: data, queues: [], types: [], isTracked: false });
const since = (ring: EventRing, id: string) => ring.since(id)?.map(({ job }) => job) ?? null;

it('returns the events after an id, in order', () => {
  const ring = new EventRing(5);
  const start = ring.lastId;
  expect(since(ring, start)).toEqual([]);
  const first = push(ring, 'a');
  push(ring, 'b');
  expect(since(ring, start)).toEqual(['a', 'b']);
  expect(since(ring, first.id)).toEqual(['b']);
  expect(since(ring, ring.lastId)).toEqual([]);
});

it('keeps the last events, and detects that events are missing', () => {
  const ring = new EventRing(5, 3);
  for (const data of ['a', 'b', 'c', 'd']) push(ring, data);
  expect(since(ring, '5-1')).toEqual(['b', 'c', 'd']);
  expect(since(ring, '5-0')).toBeNull();
  expect(since(ring, '5-3')).toEqual(['d']);
});

it.each(['4-1', '6-1', '5-9', '', 'x', '5', '5-1-1', '-1'])('returns null for the unknown id %j', (id) => {
  const ring = new EventRing(5);
  push(ring, 'a');
  expect(ring.since(id)).toBeNull();
});

it('returns no more events than the limit, and formats each as one message', () => {
  const ring = new EventRing(5);
  for (const data of ['a', 'b', 'c']) push(ring, data);
  expect(ring.since('5-0', 2)?.map(({ text }) => text)).toEqual([
    'id: 5-1\nevent: job\ndata: a\n\n',
    'id: 5-2\nevent: job\ndata: b\n\n',
  ]);
});
