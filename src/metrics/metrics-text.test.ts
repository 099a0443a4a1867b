import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Family, metricsText, type Sample } from './metrics-text.ts';

const labelName = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/);
const number = fc.oneof(fc.double(), fc.integer());
const sample: fc.Arbitrary<Sample> = fc.record({
  labels: fc.dictionary(labelName, fc.string({ unit: 'binary', maxLength: 20 }), { maxKeys: 4, noNullPrototype: true }),
  value: number,
});
const family: fc.Arbitrary<Family> = fc.record({
  name: fc.stringMatching(/^longhaul_[a-z_]{1,20}$/),
  help: fc.string({ unit: 'binary', maxLength: 60 }),
  type: fc.constantFrom('counter', 'gauge'),
  samples: fc.array(sample, { maxLength: 5 }),
});

/** Parses the format from its description, independently of the writer. */
function read(text: string): { name: string; labels: Record<string, string>; value: number }[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', list = '', value = ''] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s.exec(line) ?? [];
    expect({ name, line }).not.toMatchObject({ name: '' });
    const pairs = [...list.matchAll(/([a-z_][a-z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/gs)];
    expect(pairs.map(([whole]) => whole).join('')).toBe(list);
    const labels = Object.fromEntries(pairs.map(([, key = '', given = '']) => [key, unescaped(given)]));
    return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
  });
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/gs, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));

describe('metrics as text', () => {
  it('round-trip, with any text in a label', () => {
    fc.assert(
      fc.property(fc.array(family, { maxLength: 4 }), (families) => {
        const expected = families.flatMap(({ name, samples }) =>
          samples.map(({ labels = {}, value }) => ({
            name,
            value,
            labels: Object.fromEntries(Object.entries(labels).map(([key, each]) => [key, each.replace(/\r/g, ' ')])),
          })),
        );
        expect(read(metricsText(families))).toEqual(expected.map((each) => ({ ...each, value: each.value + 0 })));
      }),
    );
  });

  it('describe each family once, before its samples', () => {
    const text = metricsText([{ name: 'a_total', help: 'two\nlines', type: 'counter', samples: [{ value: 3 }] }]);
    expect(text).toBe('# HELP a_total two\\nlines\n# TYPE a_total counter\na_total 3\n');
  });

  it('write NaN and infinity as the format requires', () => {
    const samples = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e21].map((value) => ({ value }));
    const text = metricsText([{ name: 'a', help: '', type: 'gauge', samples }]);
    expect(text.match(/^a .*$/gm)).toEqual(['a NaN', 'a +Inf', 'a -Inf', 'a 1e+21']);
  });
});
