/** The reader of Prometheus text refuses what it must: a test that uses it can fail. */
import { describe, expect, it } from 'vitest';
import { lint, readExposition } from './exposition.ts';

const of = (type: string, name: string, ...samples: string[]): string =>
  `# HELP ${name} Help.\n# TYPE ${name} ${type}\n${samples.map((each) => `${each}\n`).join('')}`;
const GOOD = of(
  'histogram',
  'a_seconds',
  'a_seconds_bucket{le="1"} 1',
  'a_seconds_bucket{le="+Inf"} 2',
  'a_seconds_sum 3',
  'a_seconds_count 2',
);

describe('the reader of Prometheus text', () => {
  it('reads families with their series', () => {
    expect(readExposition(of('gauge', 'a', 'a{b="x\\"\\n"} 1.5')).at(0)?.series).toEqual([
      { name: 'a', labels: { b: 'x"\n' }, value: 1.5 },
    ]);
    expect(lint(readExposition(GOOD))).toEqual([]);
  });

  it.each([
    ['no newline at the end', 'newline', '# HELP a A.\n# TYPE a gauge\na 1'],
    ['a sample without its type', 'HELP', 'a 1\n'],
    ['a family without a sample', 'no sample', of('gauge', 'a')],
    ['a family twice', 'twice', of('gauge', 'a', 'a 1') + of('gauge', 'a', 'a 2')],
    ['a series twice', 'twice', of('gauge', 'a', 'a{b="1"} 1', 'a{b="1"} 2')],
    ['a sample of another family', 'does not belong', of('gauge', 'a', 'b 1')],
    ['a value that is no number', 'not a number', of('gauge', 'a', 'a one')],
    ['labels that are not quoted', 'bad labels', of('gauge', 'a', 'a{b=1} 1')],
    ['a histogram whose buckets shrink', 'not whole', GOOD.replace('le="1"} 1', 'le="1"} 5')],
    ['a histogram without its last bucket', 'not whole', GOOD.replace('a_seconds_bucket{le="+Inf"} 2\n', '')],
    ['a histogram with another count', 'not whole', GOOD.replace('_count 2', '_count 3')],
  ])('refuses %s', (_what, problem, text) => {
    expect(() => readExposition(text)).toThrow(problem);
  });

  it.each([
    ['a counter without _total', of('counter', 'a', 'a 1')],
    ['a gauge with _total', of('gauge', 'a_total', 'a_total 1')],
    ['a quantile of a gauge', of('gauge', 'a', 'a{quantile="1"} 1')],
    ['a unit that is no base unit', of('gauge', 'a_ms', 'a_ms 1')],
    ['a type in the name', of('gauge', 'a_gauge', 'a_gauge 1')],
    ['a reserved suffix', of('gauge', 'a_count', 'a_count 1')],
  ])('reports %s', (_what, text) => {
    expect(lint(readExposition(text))).toHaveLength(1);
  });
});
