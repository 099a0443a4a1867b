import { describe, expect, it } from 'vitest';
import { parseVerb } from './parse-verb.ts';
import { hear, NOTHING_SAID, type Said } from './reports.ts';

const after = (...lines: string[]): Said => lines.map(parseVerb).reduce(hear, NOTHING_SAID);

describe('all that was said', () => {
  it('keeps the last of what replaces, and all of what adds up', () => {
    expect(
      after(
        'progress 10 pass 1',
        'progress 40',
        'checkpoint {"at":1}',
        'checkpoint {"at":2}',
        'result 1',
        'tag a',
        'tag b',
        'tag a',
        'group g',
        'attach out/x',
        'attach out/y',
        'attach out/x',
      ),
    ).toEqual({
      ...NOTHING_SAID,
      status: 'pass 1',
      progress: { kind: 'progress', percent: 40, text: '' },
      checkpoint: '{"at":2}',
      result: '1',
      tags: ['a', 'b'],
      group: 'g',
      attachments: ['out/x', 'out/y'],
    });
  });

  it('leaves what is bad out', () => {
    expect(after('result {', 'tag')).toEqual(NOTHING_SAID);
  });

  it('has a limit for each list', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `tag ${index}`);
    expect(after(...many).tags).toHaveLength(100);
  });
});
