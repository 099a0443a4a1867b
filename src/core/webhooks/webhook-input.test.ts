import { describe, expect, it } from 'vitest';
import { toNewJob } from '../input/add-options.ts';
import { mergeSettings } from '../settings/settings-input.ts';
import type { WebhookInput } from './webhook-input.ts';

const hooksOf = (...hooks: unknown[]) =>
  toNewJob({ queue: 'q', data: '1', newId: () => 'x' }, { hooks: hooks as WebhookInput[] }).policy?.hooks;

describe('webhook settings', () => {
  it('are an address for the end of a job, or an address with its events', () => {
    expect(hooksOf('HTTPS://Example.com/a b')).toEqual([
      { url: 'https://example.com/a%20b', on: ['done', 'failed', 'cancelled'] },
    ]);
    const whole = { url: 'http://a/', on: ['progress', 'silent', 'progress'], every: 10, silent: '5m', secret: 'ops' };
    expect(hooksOf(whole)).toEqual([
      { url: 'http://a/', on: ['progress', 'silent'], every: 10, silentMs: 300_000, secret: 'ops' },
    ]);
    expect(mergeSettings({}, { hooks: ['https://a/'] }).hooks).toHaveLength(1);
  });

  it.each([
    ['a/b', /hooks\[0\]: must be an address such as https:/],
    ['ftp://a/', /must begin with http/],
    ['https://me@a/', /no user and no password/],
    ['https://a/#x', /no # part/],
    ['https://a/?x=\\', /no backslash/],
    [`https://a/${'x'.repeat(800)}`, /at most 800 characters/],
    [{ on: ['done'] }, /hooks\[0\]\.url: is missing/],
    [{ url: 'https://a/', on: [] }, /at least one event/],
    [{ url: 'https://a/', on: ['don'] }, /must be one of start.*did you mean/],
    [{ url: 'https://a/', on: ['silent'] }, /silent: is missing/],
    [{ url: 'https://a/', silent: '1m' }, /is only allowed with on: silent/],
    [{ url: 'https://a/', every: 5 }, /is only allowed with on: progress/],
    [{ url: 'https://a/', secret: `whsec_${'A'.repeat(32)}` }, /name of a secret/],
  ])('are rejected with the problem: %j', (hook, problem) => {
    expect(() => hooksOf(hook)).toThrow(problem);
  });
});
