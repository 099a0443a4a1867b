import { expect, test } from 'vitest';
import { toNewJob } from '../input/add-options.ts';
import type { SettingsInput } from './settings-input.ts';
import { mergeSettings } from './settings-input.ts';

const basis = { queue: 'q', data: '1', newId: () => 'id' };

test('Limits are given as text and stored as numbers.', () => {
  const given = { maxRunning: 3, keys: { by: 'user.id', limit: 1 }, throttles: ['db'], rate: '100/1m' };
  expect(mergeSettings({}, given)).toEqual({
    maxRunning: 3,
    keys: { by: ['user.id'], limit: 1 },
    throttles: ['db'],
    rate: { count: 100, ms: 60_000 },
  });
  expect(mergeSettings({}, { keys: { by: ['a', 'b'] }, rate: { count: 1, per: '2s' } })).toEqual({
    keys: { by: ['a', 'b'], limit: null },
    rate: { count: 1, ms: 2_000 },
  });
});

test.each<[SettingsInput, string]>([
  [{ maxRunning: 0 }, 'must be a whole number from 1 to 1000000, not 0'],
  [{ maxRunning: -1 }, 'must be a whole number from 1 to 1000000, not -1'],
  [{ keys: { by: 'a', limit: 0 } }, 'must be a whole number from 1 to 1000000, not 0'],
  [{ keys: { by: 'a..b' } }, "must be the path of a field, such as 'tenant' or 'user.id', not \"a..b\""],
  [{ throttles: ['no name'] }, 'must begin with a letter, digit or _'],
  [{ rate: '100/minute' }, "must be a count and a period, such as '100/1m' or '5/1h30m', not \"100/minute\""],
  [{ rate: '0/1m' }, 'must be a whole number from 1 to 1000000, not 0'],
])('An invalid limit is rejected with the problem: %j', (input, problem) => {
  expect(() => mergeSettings({}, input)).toThrow(problem);
});

test('Replace and debounce need a unique key and a delay.', () => {
  const options = { unique: 'k', onTaken: 'debounce', delay: '1s', maxWait: '5s' } as const;
  expect(toNewJob(basis, options)).toMatchObject({ delayMs: 1_000, onTaken: { kind: 'debounce', maxWaitMs: 5_000 } });
  expect(toNewJob(basis, { unique: 'k', onTaken: 'keep' })).not.toHaveProperty('onTaken');
  expect(() => toNewJob(basis, { onTaken: 'replace' })).toThrow('needs a unique key');
  expect(() => toNewJob(basis, { unique: 'k', onTaken: 'debounce' })).toThrow('debounce needs a delay or runAt');
  expect(() => toNewJob(basis, { unique: 'k', maxWait: '1s' })).toThrow('is only allowed with onTaken debounce');
});
