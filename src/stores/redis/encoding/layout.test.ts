import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HISTORY_EVENTS } from '../../../core/job/history.ts';
import { EVENT_LETTERS, escapeText, FIELD, PART, unescapeText } from './layout.ts';

test('Any text comes back as it was, and never holds a separator on its way.', () => {
  const nasty = fc.string({ unit: fc.constantFrom('a', '0', '1', '2', '\x1c', '\x1d', PART, FIELD, '\n') });
  fc.assert(
    fc.property(nasty, (text) => {
      const escaped = escapeText(text);
      expect(escaped.includes(FIELD) || escaped.includes(PART)).toBe(false);
      expect(unescapeText(escaped)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test('Every event of a history has a letter of its own.', () => {
  expect(new Set(Object.values(EVENT_LETTERS)).size).toBe(HISTORY_EVENTS.length);
});
