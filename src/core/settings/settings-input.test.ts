import { expect, test } from 'vitest';
import type { AddOptions } from '../input/add-options.ts';
import { toNewJob } from '../input/add-options.ts';
import { settingsOf } from './settings.ts';
import type { SettingsInput } from './settings-input.ts';
import { checkQueueName, mergeSettings } from './settings-input.ts';

const job = { queue: 'mail', data: 'null', newId: () => 'made' };
const add = (options: unknown) => toNewJob(job, options as AddOptions);

test('A job without options has a generated id and nothing else.', () => {
  expect(toNewJob(job, undefined)).toEqual({ id: 'made', queue: 'mail', data: 'null' });
});

test('Options are converted to the fields of the store.', () => {
  const options = {
    id: 'a',
    priority: -3,
    delay: '10m',
    tags: ['x', 'x'],
    retries: 2,
    maxRuntime: '1h',
    unique: 'k',
    backoff: '5s',
  } as const;
  expect(add(options)).toEqual({
    id: 'a',
    queue: 'mail',
    data: 'null',
    priority: -3,
    delayMs: 600_000,
    tags: ['x'],
    unique: { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 },
    policy: {
      retries: 2,
      maxRuntimeMs: 3_600_000,
      backoff: { kind: 'fixed', delayMs: 5_000, maxMs: 3_600_000, jitter: 0, delaysMs: [] },
    },
  });
});

test.each([
  [{ priorty: 1 }, 'priorty: is not known; did you mean priority?'],
  [{ priority: 'high' }, 'priority: must be a whole number from -1000000000 to 1000000000, not "high"'],
  [{ priority: 1.5 }, 'priority: must be a whole number'],
  [{ delay: 'soon' }, "delay: must be a duration such as '90s'"],
  [{ delay: -1 }, 'delay: must be a duration'],
  [{ delay: 1, runAt: 1 }, 'give only one of them'],
  [{ runAt: 'never' }, 'runAt: must be a Date'],
  [{ id: '..' }, 'id: must be 1 to 128 of'],
  [{ id: 'a/b' }, 'id: must be 1 to 128 of'],
  [{ id: '@w' }, 'nor begin with @'],
  [{ tags: ['ok', ''] }, 'tags[1]: must be 1 to 128 characters'],
  [
    { unique: { scope: 'quue', key: 'k' } },
    'unique.scope: must be one of queue, store, not "quue"; did you mean queue?',
  ],
  [{ unique: { scope: 'queue' } }, 'unique.key: is missing'],
  [{ unique: { key: 'k', until: 'ended', period: '1h' } }, 'until or period, not both'],
  [{ backoff: { kind: 'list' } }, 'backoff.delays: must name at least one'],
  [{ backoff: { jitter: 2 } }, 'backoff.jitter: must be a number from 0 to 1'],
  ['fast', 'must be an object, not "fast"'],
])('Bad options are rejected with their path and the expected value: %o', (options, problem) => {
  expect(() => add(options)).toThrow(problem);
});

test('All problems are reported at once.', () => {
  expect(() => add({ priority: 'a', id: '', nope: 1 })).toThrow(/priority: .*id: .*nope: /);
});

test.each(['', '.x', 'a b', 'a/b', 'x'.repeat(129), 'a.json', 'a.txt', 7])('%s is not a valid queue name.', (name) => {
  expect(() => checkQueueName(name)).toThrow('queue name');
});

test('Settings merge over earlier ones, durations in milliseconds under names of their own.', () => {
  const first = mergeSettings({}, { lease: '30s', retention: { done: { for: '1d' } } });
  expect(first).toMatchObject({
    leaseMs: 30_000,
    retention: { done: { ms: 86_400_000, count: null } },
  });
  expect(settingsOf(first).retention.failed.ms).toBe(30 * 86_400_000);
  expect(mergeSettings(first, { retries: 3 })).toEqual({ ...first, retries: 3 });
});

test.each([
  [{ leese: '1s' }, 'did you mean lease?'],
  [{ lease: '1s', heartbeat: '900ms' }, 'heartbeat: must be at most half of the lease'],
  [{ retention: { failed: { for: '59s' } } }, 'retention.failed.for: must be at least the lease of 60000 ms'],
  [{ lease: '8d' }, 'retention.done.for: must be at least the lease'],
  [{ retention: { results: { for: '1s' } } }, 'retention.results.for: must be at least the lease of 60000 ms'],
  [{ retention: { logs: { for: '1s' } } }, 'retention.logs.for: must be at least the lease of 60000 ms'],
  [{ retention: { done: { bytes: 'much' } } }, 'retention.done.bytes: must be a size'],
  [{ retention: { outputs: {} } }, 'retention.outputs'],
  [{ statsDays: 6 }, 'histogramDays: must be at most statsDays, which is 6'],
  [{ search: ['a..b'] }, 'search[0]: must be a field of the data'],
  [{ maxCrashes: 0 }, 'maxCrashes: must be a whole number from 1'],
  [{ onLost: 'ignore' }, 'onLost: must be one of requeue, fail, hold'],
  [{ retention: { done: { for: 'ever' } } }, 'retention.done.for: must be a duration'],
])('Bad settings are rejected: %o', (settings, problem) => {
  expect(() => mergeSettings({}, settings as SettingsInput)).toThrow(problem);
});
