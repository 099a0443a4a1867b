import { describe, expect, it } from 'vitest';
import { failureOf, isFinal, MAX_DETAIL_LENGTH, MAX_GROUP_LENGTH, MAX_MESSAGE_LENGTH, markStep } from './failure.ts';

const groupOf = (message: string) => failureOf(new RangeError(message)).group;

describe('a failure made of a thrown value', () => {
  it('has the class and the message as its group, and the stack as its detail', () => {
    const failure = failureOf(new TypeError('no such file'));
    expect(failure).toMatchObject({ group: 'TypeError: no such file', message: 'no such file' });
    expect(failure.detail).toContain('failure.test');
  });

  it.each([
    ['took 1534 ms', 'took 981 ms'],
    ['version 1.2.3 is gone', 'version 1.10 is gone'],
    ['no user 7f3c9a10b2', 'no user 0a11bb22cc33'],
    ['at 0x7ffe12345678', 'at 0x12345678'],
    ['job 0198c3a2-1111-7abc-8def-0123456789ab', 'job 0198C3A2-2222-7abc-8def-0123456789ab'],
  ])('puts "%s" and "%s" into one group', (one, other) => {
    expect(groupOf(one)).toBe(groupOf(other));
  });

  it('does not take a word for an id', () => {
    expect(groupOf('the facade was defaced')).toBe('RangeError: the facade was defaced');
  });

  it('uses the group that the error names', () => {
    expect(failureOf(Object.assign(new Error('507 of 1000'), { group: 'quota' })).group).toBe('quota');
  });

  it('names the innermost step that threw it, also as a cause, and groups a repeated step', () => {
    const error = new Error('no disk 7');
    markStep(error, 'encode 1080p#2');
    markStep(error, 'whole');
    expect(failureOf(error)).toMatchObject({
      group: 'Error: step encode 1080p: no disk *',
      message: 'step encode 1080p#2: no disk 7',
    });
    expect(failureOf(new TypeError('gave up', { cause: error })).message).toBe('step encode 1080p#2: gave up');
    const own = Object.assign(new Error('507 of 1000'), { group: 'quota' });
    markStep(own, 'bill');
    expect(failureOf(own)).toMatchObject({ group: 'quota', message: 'step bill: 507 of 1000' });
    for (const value of ['text', null, Object.freeze(new Error('x')), new Proxy({}, { has: () => true })])
      expect(() => markStep(value, 'cut')).not.toThrow();
  });

  it('keeps every text within its limit and every character whole', () => {
    const error = new Error('😀'.repeat(20_000));
    error.stack = 'x'.repeat(100_000);
    const { group, message, detail } = failureOf(error);
    expect(group.length).toBeLessThanOrEqual(MAX_GROUP_LENGTH);
    expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE_LENGTH);
    expect(detail).toHaveLength(MAX_DETAIL_LENGTH);
    expect(Buffer.from(group + message).toString()).toBe(group + message);
  });

  it('includes the causes, up to a limit', () => {
    const error = new Error('outer', { cause: new Error('inner', { cause: 'a string' }) });
    expect(failureOf(error).detail).toMatch(/outer[^]*caused by: Error: inner[^]*caused by: a string/);
    const round = new Error('round');
    round.cause = round;
    expect(failureOf(round).detail?.split('caused by').length).toBe(5);
  });

  it.each([
    ['a string', 'plain text', 'plain text'],
    ['undefined', undefined, 'undefined was thrown'],
    ['null', null, 'null was thrown'],
    ['a number', 7, '7 was thrown'],
    ['an object', { code: 'E' }, '{"code":"E"}'],
    ['an object with a message', { message: 'hm' }, 'hm'],
    ['a symbol', Symbol('x'), 'Symbol(x) was thrown'],
  ])('can be made of %s', (_what, thrown, message) => {
    expect(failureOf(thrown).message).toBe(message);
  });

  it('can be made of an unreadable value', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no');
        },
      },
    );
    expect(failureOf(hostile).message).toBe('the thrown value could not be read');
    expect(isFinal(hostile)).toBe(false);
    const round: { self?: unknown } = {};
    round.self = round;
    expect(failureOf(round).group).toBe('Error');
  });
});

describe('whether a failure is final', () => {
  it('depends on a field of the error, not on an error class', () => {
    expect(isFinal(Object.assign(new Error('no'), { final: true }))).toBe(true);
    expect(isFinal(new Error('no'))).toBe(false);
    expect(isFinal('final')).toBe(false);
  });
});
