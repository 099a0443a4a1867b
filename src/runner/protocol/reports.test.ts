import { describe, expect, it } from 'vitest';
import { parseVerb } from './parse-verb.ts';
import { addReport, NO_REPORTS, type Reports } from './reports.ts';

const after = (...lines: string[]): Reports => lines.map(parseVerb).reduce(addReport, NO_REPORTS);

describe('accumulated reports', () => {
  it('keep the last of single values, and all items of lists', () => {
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
      ...NO_REPORTS,
      status: 'pass 1',
      progress: { kind: 'progress', percent: 40, text: '' },
      checkpoint: '{"at":2}',
      result: '1',
      tags: ['a', 'b'],
      group: 'g',
      attachments: ['out/x', 'out/y'],
    });
  });

  it('ignore bad lines', () => {
    expect(after('result {', 'tag')).toEqual(NO_REPORTS);
  });

  it('limit each list', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `tag ${index}`);
    expect(after(...many).tags).toHaveLength(100);
  });
});
