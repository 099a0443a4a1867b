import { expect, test } from 'vitest';
import { toNewJob } from '../input/add-options.ts';
import { checked } from '../input/check.ts';
import { throttleSettings } from './limit-input.ts';
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

test('A throttle has a maximum, a rate, or both.', () => {
  const settings = (limits: unknown) => checked('throttle', limits, throttleSettings);
  expect(settings(5)).toEqual({ max: 5 });
  expect(settings({ max: 5 })).toEqual({ max: 5 });
  expect(settings({ rate: '60/1m', by: 'model', cost: 'usage.tokens' })).toEqual({
    rate: { count: 60, ms: 60_000 },
    by: ['model'],
    cost: 'usage.tokens',
  });
  expect(settings({ max: 2, rate: { count: 2_000_000, per: '1m' } })).toEqual({
    max: 2,
    rate: { count: 2_000_000, ms: 60_000 },
  });
});

test.each<[unknown, string]>([
  [0, 'must be a whole number from 1 to 1000000, not 0'],
  [{}, "max: must be set, or a rate such as '60/1m', or both"],
  [{ rate: '60' }, "must be a count and a period, such as '100/1m' or '5/1h30m', not \"60\""],
  [{ rate: '60/1m', key: 'model' }, 'key'],
  [{ max: 5, by: 'model' }, 'by: needs a rate'],
  [{ max: 5, cost: 'tokens' }, 'cost: needs a rate'],
  [{ rate: '60/1m', cost: 5 }, 'cost'],
])('Invalid limits of a throttle are rejected with the problem: %j', (limits, problem) => {
  expect(() => checked('throttle', limits, throttleSettings)).toThrow(problem);
});

test('Replace and debounce need a unique key and a delay.', () => {
  const options = { unique: 'k', onTaken: 'debounce', delay: '1s', maxWait: '5s' } as const;
  expect(toNewJob(basis, options)).toMatchObject({ delayMs: 1_000, onTaken: { kind: 'debounce', maxWaitMs: 5_000 } });
  expect(toNewJob(basis, { unique: 'k', onTaken: 'keep' })).not.toHaveProperty('onTaken');
  expect(() => toNewJob(basis, { onTaken: 'replace' })).toThrow('needs a unique key');
  expect(() => toNewJob(basis, { unique: 'k', onTaken: 'debounce' })).toThrow('debounce needs a delay or runAt');
  expect(() => toNewJob(basis, { unique: 'k', maxWait: '1s' })).toThrow('is only allowed with onTaken debounce');
});
