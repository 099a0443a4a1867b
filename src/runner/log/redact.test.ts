import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from './redact.ts';

const mask = (text: string, ...secrets: string[]) => createRedactor(secrets).mask(Buffer.from(text)).toString();

describe('a redactor', () => {
  it('masks every byte, so that offsets stay the same', () => {
    expect(mask('key=hunter2; again hunter2.', 'hunter2')).toBe('key=*******; again *******.');
    expect(mask('naïve', 'naïve')).toBe('******');
  });

  it('masks overlapping secrets', () => {
    expect(mask('xababab', 'abab')).toBe('x******');
    expect(mask('abcdefgh', 'abcde', 'defgh')).toBe('********');
  });

  it('masks the lines of a secret one by one', () => {
    expect(mask('a BEGIN KEY b\nc END KEY', 'BEGIN KEY\r\nEND KEY')).toBe('a ********* b\nc *******');
  });

  it('ignores secrets that are too short', () => {
    expect(mask('a b c', 'a', '', 'b c')).toBe('a b c');
    expect(createRedactor([]).overlap).toBe(0);
  });

  it('returns how much of the end could be the beginning of a secret', () => {
    const { unfinished } = createRedactor(['hunter2', 'terrible']);
    const of = (text: string) => unfinished(Buffer.from(text));
    expect([of('key=hun'), of('key=hunter'), of('x'), of('hunter2'), of('')]).toEqual([3, 6, 0, 0, 0]);
  });

  it('changes nothing else, and leaves no complete secret', () => {
    const secret = fc.string({ minLength: 4, maxLength: 6, unit: fc.constantFrom('a', 'b') });
    const text = fc.string({ maxLength: 60, unit: fc.constantFrom('a', 'b', ' ') });
    fc.assert(
      fc.property(text, fc.array(secret, { minLength: 1, maxLength: 3 }), (plain, secrets) => {
        const masked = mask(plain, ...secrets);
        expect(masked).toHaveLength(plain.length);
        for (const each of secrets) expect(masked).not.toContain(each);
        for (let at = 0; at < plain.length; at += 1) expect(['*', plain[at]]).toContain(masked[at]);
      }),
      { numRuns: 300 },
    );
  });
});
