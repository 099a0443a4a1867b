import { expect, test } from 'vitest';
import { isPattern, matcherOf } from './channel-pattern.ts';

test('A pattern matches channels as PSUBSCRIBE does.', () => {
  const cases: readonly (readonly [pattern: string, channel: string, isMatch: boolean])[] = [
    ['*', 'w:host.1', true],
    ['w:*', 'w:host.1', true],
    ['w:*', 'log', false],
    ['p?t', 'put', true],
    ['p?t', 'pt', false],
    ['[pl]*', 'log', true],
    ['[^pl]*', 'log', false],
    ['w:[a-c]', 'w:b', true],
    ['w:\\*', 'w:*', true],
    ['w:\\*', 'w:x', false],
    ['w:a.b*', 'w:aXb', false],
  ];
  for (const [pattern, channel, isMatch] of cases)
    expect([pattern, matcherOf(pattern)(channel)]).toEqual([pattern, isMatch]);
  expect(['put', 'w:a'].map(isPattern)).toEqual([false, false]);
});
