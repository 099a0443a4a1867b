/** Times in the user's time zone. */
import { expect, it } from 'vitest';
import { localTime, reasonOf, withLocalTimes } from './local-times.ts';

const now = new Date(2026, 2, 1, 12, 0).getTime();
const at = (...parts: [number, number, number, number, number]) => new Date(...parts).getTime();

it.each([
  [at(2026, 2, 1, 14, 5), 'today at 14:05'],
  [at(2026, 2, 2, 0, 0), 'tomorrow at 00:00'],
  [at(2026, 1, 28, 23, 59), 'yesterday at 23:59'],
  [at(2026, 2, 4, 9, 30), 'Wed 4 Mar at 09:30'],
  [at(2027, 0, 1, 9, 30), 'Fri 1 Jan 2027 at 09:30'],
])('formats %d as %s', (time, text) => {
  expect(localTime(time, now)).toBe(text);
});

it('replaces ISO times in a text and keeps the rest', () => {
  const iso = new Date(at(2026, 2, 1, 14, 5)).toISOString();
  expect(withLocalTimes(`after failure 2, again at ${iso}`, now)).toBe('after failure 2, again today at 14:05');
  expect(withLocalTimes('the queue is paused', now)).toBe('the queue is paused');
});

it('does not change the message of a failure', () => {
  const reason = 'exit-3: gone since 2026-03-01T10:00:00Z';
  expect(reasonOf({ label: 'failed', reason }, now)).toBe(reason);
  expect(reasonOf({ label: 'scheduled', reason: 'not before 2020-01-01T00:00:00.000Z' }, now)).not.toContain('Z');
  expect(reasonOf({ label: 'suspended', reason: 'sleeping until 2020-01-01T00:00:00.000Z' }, now)).not.toContain('Z');
});
