import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_LINE_LIMIT, LINE_LIMIT, ReportLines } from './report-lines.ts';

function linesOf(...chunks: (string | Buffer)[]) {
  const lines = new ReportLines(0);
  const found = chunks.flatMap((chunk) => lines.take(Buffer.from(chunk as string)));
  return [...found, ...lines.finish()];
}

describe('report lines', () => {
  it('waits for the rest of a line, and knows the offset of each', () => {
    expect(linesOf('run a\ndo', 'ne', ' ok\nrun')).toEqual([
      { text: 'run a', at: 0, isCut: false },
      { text: 'done ok', at: 6, isCut: false },
      { text: 'run', at: 14, isCut: false },
    ]);
  });

  it('does not depend on how the bytes are split', () => {
    const text = fc
      .array(fc.constantFrom('run a', 'done ä', '', '\r', 'x'.repeat(5_000), 'result [1]'))
      .map((all) => Buffer.from(all.join('\n')));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 6_000 }), { maxLength: 8 }), (bytes, cuts) => {
        const at = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(linesOf(...chunks)).toEqual(linesOf(bytes));
      }),
    );
  });

  it('accepts CRLF, and replaces control and malformed characters', () => {
    expect(linesOf('done ok\r\n', Buffer.from([0x72, 0x00, 0x1b, 0xff, 0x09, 0x0a])).map(({ text }) => text)).toEqual([
      'done ok',
      'r\ufffd\ufffd\ufffd\t',
    ]);
  });

  it('cuts a line at its limit and marks it', () => {
    const [line, next] = linesOf(`run ${'x'.repeat(LINE_LIMIT)}\nrun b\n`);
    expect(line).toMatchObject({ isCut: true, at: 0 });
    expect(line?.text).toHaveLength(LINE_LIMIT);
    expect(next).toEqual({ text: 'run b', at: LINE_LIMIT + 5, isCut: false });
  });

  it('has a higher limit for JSON', () => {
    const json = JSON.stringify('x'.repeat(100_000));
    expect(linesOf('res', `ult ${json}`, '\n')).toEqual([{ text: `result ${json}`, at: 0, isCut: false }]);
    expect(linesOf(`checkpoint "${'x'.repeat(JSON_LINE_LIMIT)}"\n`)[0]).toMatchObject({ isCut: true });
  });

  it('keeps memory bounded for a line that never ends', () => {
    const lines = new ReportLines(0);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 2_000; index += 1) expect(lines.take(chunk)).toEqual([]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
    expect(lines.take(Buffer.from('\n'))[0]).toMatchObject({ isCut: true, at: 0 });
    expect(lines.restAt).toBe(2_000 * 64 * 1024 + 1);
  });
});
