/**
 * A strict reader of Prometheus text, written from the description of the format and independent of the writer. It throws
 * at the first breach of the format, and lists what `promtool check metrics` would complain about.
 */

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ReadFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly series: readonly Series[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

export function readExposition(text: string): readonly ReadFamily[] {
  if (!text.endsWith('\n')) throw new Error('the text does not end with a newline');
  const families: { name: string; type: string; help: string; series: Series[] }[] = [];
  const lines = text.slice(0, -1).split('\n');
  for (let at = 0; at < lines.length; ) {
    const [, name = '', help = ''] = /^# HELP (\S+) (.+)$/.exec(lines[at] ?? '') ?? [];
    const [, typed = '', type = ''] =
      /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(lines[at + 1] ?? '') ?? [];
    if (name === '' || name !== typed) throw new Error(`line ${at + 1} is not HELP followed by TYPE: ${lines[at]}`);
    if (families.some((each) => each.name === name)) throw new Error(`${name} is there twice`);
    const family = { name, type, help, series: [] as Series[] };
    families.push(family);
    for (at += 2; at < lines.length && !lines[at]?.startsWith('#'); at += 1)
      family.series.push(readSeries(lines[at] ?? ''));
    checkFamily(family);
  }
  return families;
}

function readSeries(line: string): Series {
  const [, name = '', , list = '', value = ''] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === '') throw new Error(`not a sample: ${line}`);
  const pairs = [...list.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/g)];
  if (pairs.map(([whole]) => whole).join('') !== list || list.endsWith(',')) throw new Error(`bad labels: ${line}`);
  const labels = Object.fromEntries(pairs.map(([, key = '', text = '']) => [key, unescaped(text)]));
  if (Object.keys(labels).length !== pairs.length) throw new Error(`a label is there twice: ${line}`);
  const number = Number(value.replace(/^\+?Inf$/, 'Infinity').replace('-Inf', '-Infinity'));
  if (Number.isNaN(number) && value !== 'NaN') throw new Error(`not a number: ${line}`);
  return { name, labels, value: number };
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, each: string) => (each === 'n' ? '\n' : each));

function checkFamily({ name, type, series }: ReadFamily): void {
  if (!NAME.test(name)) throw new Error(`${name} is not a name`);
  if (series.length === 0) throw new Error(`${name} has no sample`);
  const allowed = (SUFFIXES[type] ?? ['']).map((suffix) => name + suffix);
  const keys = new Set<string>();
  for (const each of series) {
    if (!allowed.includes(each.name)) throw new Error(`${each.name} does not belong to ${type} ${name}`);
    const key = each.name + JSON.stringify(Object.entries(each.labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    if (keys.has(key)) throw new Error(`a series is there twice: ${key}`);
    keys.add(key);
  }
  if (type === 'histogram') checkHistogram(name, series);
}

function checkHistogram(name: string, series: readonly Series[]): void {
  const keyOf = ({ labels: { le: _le, ...rest } }: Series): string => JSON.stringify(rest);
  for (const key of new Set(series.map(keyOf))) {
    const of = series.filter((each) => keyOf(each) === key);
    const buckets = of.filter((each) => each.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number((labels['le'] ?? '').replace('+Inf', 'Infinity')));
    const counts = buckets.map(({ value }) => value);
    const isGrowing = (values: readonly number[]) =>
      values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
    const total = of.find((each) => each.name === `${name}_count`)?.value;
    const isWhole = bounds.at(-1) === Number.POSITIVE_INFINITY && counts.at(-1) === total;
    if (!isWhole || !isGrowing(bounds) || !isGrowing(counts) || !of.some((each) => each.name === `${name}_sum`))
      throw new Error(`the histogram ${name}${key} is not whole`);
  }
}

/** Units that are not base units, and abbreviations of units. */
const BAD_UNITS =
  /_(ms|msec|us|ns|sec|s|min|hr|h|d|kb|mb|gb|b|milliseconds|microseconds|nanoseconds|minutes|hours|days|kilobytes|megabytes|gigabytes|bits|percent|celsius_degrees)(_total|$)/;

/** Returns what promtool's linter would report, one line each. */
export function lint(families: readonly ReadFamily[]): readonly string[] {
  return families.flatMap(({ name, type, help, series }) => {
    const problems: string[] = [];
    const has = (label: string) => series.some(({ labels }) => label in labels);
    if (help.trim() === '') problems.push('no help text');
    if (type === 'counter' && !name.endsWith('_total')) problems.push('counter metrics should have "_total" suffix');
    if (type !== 'counter' && name.endsWith('_total'))
      problems.push('non-counter metrics should not have "_total" suffix');
    if (type !== 'histogram' && has('le')) problems.push('non-histogram metrics should not have "le" label');
    if (type !== 'summary' && has('quantile')) problems.push('non-summary metrics should not have "quantile" label');
    if (type !== 'histogram' && type !== 'summary' && /_(count|sum|bucket)$/.test(name))
      problems.push('a reserved suffix');
    if (/_(counter|gauge|histogram|summary)(_|$)/.test(name)) problems.push('metric name should not include type');
    if (name.includes(':')) problems.push('metric names should not contain ":"');
    if (/[A-Z]/.test(name)) problems.push('metric names should be written in snake_case');
    if (BAD_UNITS.test(name)) problems.push('use base units without abbreviation');
    return problems.map((problem) => `${name}: ${problem}`);
  });
}
