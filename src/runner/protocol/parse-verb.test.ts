import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseVerb } from './parse-verb.ts';

describe('a line on fd 3', () => {
  it.each([
    ['run 5 of 15', { kind: 'run', text: '5 of 15' }],
    ['run', { kind: 'run', text: '' }],
    ['', { kind: 'run', text: '' }],
    ['fail x', { kind: 'run', text: 'x' }],
    ['DONE x', { kind: 'run', text: 'x' }],
    ['done', { kind: 'done', text: '' }],
    ['done  two  spaces ', { kind: 'done', text: ' two  spaces ' }],
    ['err by design', { kind: 'err', text: 'by design' }],
    ['fails too', { kind: 'err', text: 'too' }],
    [
      'relayed http://b:3333/q/x/20091109.0558.57.780',
      { kind: 'relayed', text: 'http://b:3333/q/x/20091109.0558.57.780' },
    ],
    ['resend 300-not-yet', { kind: 'resend', text: '300-not-yet', delayMs: 300_000, reason: 'not-yet' }],
    ['resend 2', { kind: 'resend', text: '2', delayMs: 2_000, reason: '' }],
    ['resend', { kind: 'resend', text: '', delayMs: 0, reason: '' }],
    ['resend soon-x', { kind: 'resend', text: 'soon-x', delayMs: 0, reason: 'x' }],
    ['resend -5-x', { kind: 'resend', text: '-5-x', delayMs: 0, reason: '5-x' }],
    ['resend 12abc-x', { kind: 'resend', text: '12abc-x', delayMs: 12_000, reason: 'x' }],
    ['dup 0-X-test-nop', { kind: 'dup', text: '0-X-test-nop', delayMs: 0, dest: 'test-nop' }],
    ['dup 7-X-http://h/q/a', { kind: 'dup', text: '7-X-http://h/q/a', delayMs: 7_000, dest: 'http://h/q/a' }],
    ['dup 7', { kind: 'dup', text: '7', delayMs: 7_000, dest: '' }],
    ['dup', { kind: 'dup', text: '', delayMs: 0, dest: '' }],
    ['progress 40 pass 1', { kind: 'progress', percent: 40, text: 'pass 1' }],
    ['progress 40.5%', { kind: 'progress', percent: 40.5, text: '' }],
    ['progress 400', { kind: 'progress', percent: 100, text: '' }],
    ['progress nearly there', { kind: 'progress', percent: null, text: 'nearly there' }],
    ['checkpoint {"at":7}', { kind: 'checkpoint', json: '{"at":7}' }],
    ['checkpoint {"at":', { kind: 'bad', word: 'checkpoint', problem: 'is not valid JSON' }],
    ['result 7', { kind: 'result', json: '7' }],
    ['result', { kind: 'bad', word: 'result', problem: 'is not valid JSON' }],
    ['attach out/a b.txt', { kind: 'attach', text: 'out/a b.txt' }],
    ['tag nightly', { kind: 'tag', text: 'nightly' }],
    ['group disk full', { kind: 'group', text: 'disk full' }],
    ['retry 30 HTTP 429', { kind: 'retry', text: 'HTTP 429', delayMs: 30_000 }],
    ['retry 0.5', { kind: 'retry', text: '', delayMs: 500 }],
    [
      'retry later',
      {
        kind: 'unclear',
        text: 'later',
        problem: 'retry later: write retry SECONDS REASON, such as retry 30 HTTP 429',
      },
    ],
    ['throttle openai', { kind: 'throttle', text: 'openai' }],
    [
      'throttle a b',
      {
        kind: 'bad',
        word: 'throttle',
        problem: expect.stringContaining('must begin with a letter, digit or _') as string,
      },
    ],
    ['sleep 3600', { kind: 'sleep', delayMs: 3_600_000 }],
    ['sleep 0.25', { kind: 'sleep', delayMs: 250 }],
    ['sleep 1h', { kind: 'unclear', text: '1h', problem: 'sleep 1h: write sleep SECONDS, such as sleep 3600' }],
    ['wait approval 60', { kind: 'wait', name: 'approval', timeoutMs: 60_000 }],
    ['wait the second approval 1.5', { kind: 'wait', name: 'the second approval', timeoutMs: 1_500 }],
    ['wait approval forever', { kind: 'wait', name: 'approval', timeoutMs: null }],
    [
      'wait approval',
      {
        kind: 'unclear',
        text: 'approval',
        problem: 'wait approval: write wait NAME SECONDS or wait NAME forever, such as wait approval 86400',
      },
    ],
    [`step ${'0a'.repeat(16)}-1`, { kind: 'step', key: `${'0a'.repeat(16)}-1` }],
    ['step 3 of 5', { kind: 'run', text: '3 of 5' }],
    ['step ../../etc', { kind: 'run', text: '../../etc' }],
    ['tag', { kind: 'bad', word: 'tag', problem: 'has no value' }],
  ])('%j', (line, verb) => {
    expect(parseVerb(line)).toEqual(verb);
  });

  it('has a delay that fits a date', () => {
    const verb = parseVerb(`resend ${'9'.repeat(400)}-x`);
    expect(verb.kind === 'resend' && Number.isSafeInteger(Date.now() + verb.delayMs)).toBe(true);
  });

  it('is always a verb', () => {
    const word = fc.constantFrom(
      'run',
      'sleep',
      'wait',
      'retry',
      'throttle',
      'step',
      'done',
      'err',
      'resend',
      'dup',
      'progress',
      'checkpoint',
      'attach',
      'x',
    );
    fc.assert(
      fc.property(word, fc.string({ unit: 'binary' }), (first, text) => {
        expect(parseVerb(`${first} ${text}`).kind).toBeTypeOf('string');
        expect(parseVerb(text).kind).toBeTypeOf('string');
      }),
      { numRuns: 300 },
    );
  });
});
