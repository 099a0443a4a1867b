/** Holds functions and files to the lengths of the style guide. The measure itself is tried on made-up code first. */
import { describe, expect, it } from 'vitest';
import { findTooLong, limits, measureFunctions, summarise } from './function-lengths.ts';
import { readPageSources, readSources } from './source-tree.ts';

describe('the functions of src/', () => {
  it('are short, or say why not', () => {
    expect(findTooLong(readSources())).toEqual([]);
  });

  it('have a short median', () => {
    const { count, median, p90, longest } = summarise(readSources());
    process.stdout.write(
      `\nfigures: ${count} functions, median ${median} lines, 90 % under ${p90}, longest ${longest}\n`,
    );
    expect(median).toBeLessThanOrEqual(limits.medianLines);
  });
});

describe('the functions of the web page', () => {
  it('are short, or say why not', () => {
    expect(findTooLong(readPageSources())).toEqual([]);
  });

  it('have a short median', () => {
    expect(summarise(readPageSources()).median).toBeLessThanOrEqual(limits.medianLines);
  });
});

describe('the measure of lengths', () => {
  const body = (lines: number) => '  f();\n'.repeat(lines);
  const tooLong = (text: string) => findTooLong([{ path: 'a.ts', text }]);

  it.each([
    ['a declaration', `export function long() {\n${body(61)}}\n`],
    ['an arrow', `export const long = async () => {\n${body(61)}};\n`],
    ['a method', `export class A {\n  #long() {\n${body(61)}}\n}\n`],
    ['a callback', `export const a = () => each(() => {\n${body(61)}});\n`],
    ['a reason that is not directly above', `// Long because of reasons\n\nexport function long() {\n${body(61)}}\n`],
    ['a file', '// one line\n'.repeat(301)],
  ])('catches %s', (_what, text) => {
    expect(tooLong(text)).not.toEqual([]);
  });

  it.each([
    ['a short function', `export function short() {\n${body(50)}}\n`],
    ['a reason', `/** Reads. */\n// Long because it is a table.\nexport function long() {\n${body(61)}}\n`],
    ['a reason above a const', `// Long because it is a table.\nexport const long = () => {\n${body(61)}};\n`],
    ['a file with a reason', `// Long because it is a table.\n${'// one line\n'.repeat(301)}`],
  ])('lets %s pass', (_what, text) => {
    expect(tooLong(text)).toEqual([]);
  });

  it('counts lines from the first to the last, and leaves callbacks out of the median', () => {
    const text = 'export function three() {\n  each((a) => a);\n}\n';
    expect(measureFunctions({ path: 'a.ts', text }).map(({ lines, isNamed }) => [lines, isNamed])).toEqual([
      [3, true],
      [1, false],
    ]);
    expect(summarise([{ path: 'a.ts', text }])).toEqual({ count: 1, median: 3, p90: 3, longest: 3 });
  });
});
