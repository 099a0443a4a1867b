/** The charts of the benchmarks are well-formed and show every row; the check of kept ratios finds what moved. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
}
interface Row {
  readonly row: string;
  readonly ours: number;
  readonly ratio: number | null;
  readonly range: readonly number[] | null;
  readonly against: string | null;
  readonly reach: string | null;
  readonly unit: string;
  readonly void: null;
}
interface Frame {
  barChart(chart: { title: string; note: string; groups: readonly { bars: readonly Bar[] }[] }): string;
  ratioChart(options: { rows: readonly Row[]; note: string }): string;
  compareRatios(kept: readonly Row[], rows: readonly Row[]): { compared: number; missing: string[]; moved: object[] };
  createFigures(): Figures & { section(part: string): { add(name: string, values: object): void } };
  keepFigures(path: string, kept: { figures: Figures; parts: readonly string[]; run: Run }): void;
  targets(options: object): readonly object[];
  pageOf(options: { root: string; specs: readonly object[] }): { text: string; charts: Record<string, string> };
  readFigures(path: string): { runs: readonly Run[]; figures: Figures };
}
interface Figures {
  of(name: string, measure: string): object;
}
interface Run {
  readonly facts: { readonly date: string };
  readonly notes: readonly string[];
  readonly parts?: readonly string[];
}

const root = join(import.meta.dirname, '../..');
const frame = async (name: string) => (await import(join(root, 'bench/frame', name))) as Frame;

const aRow = (given: Partial<Row> = {}): Row => ({
  row: 'Redis: add',
  ours: 200,
  ratio: 2,
  range: [1.8, 2.2],
  against: 'BullMQ',
  reach: '≥ 1.5 ×',
  unit: 'jobs/s',
  void: null,
  ...given,
});

/** Returns the bars that a real XML parser finds. */
function barsIn(svg: string): number {
  const program =
    'import sys, xml.dom.minidom as d; x = d.parse(sys.stdin.buffer); print(sum("bar" in (r.getAttribute("class").split()) for r in x.getElementsByTagName("rect")))';
  return Number(execFileSync('python3', ['-c', program], { input: svg, encoding: 'utf8' }));
}

/** Returns the cells of the rows of a table of the page, after its head. */
function tableOf(page: string, head: string): string[][] {
  const lines = page.slice(page.indexOf(head)).split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) => line.split(' | ').map((cell) => cell.replaceAll('|', '').trim()));
}

it('a chart has a bar for each value, whatever its label contains', async () => {
  const { barChart } = await frame('chart.mjs');
  const bars = ['a < b & "c"', 'plain', ''].map((label, value) => ({ label, value, text: `${value} × <fast>` }));
  const svg = barChart({ title: 'Rates & more', note: '<none>', groups: [{ bars }, { bars }] });
  expect(barsIn(svg)).toBe(6);
  expect(svg).toContain('prefers-color-scheme: dark');
});

it('the chart of ratios has a bar for each row, with a peer or without', async () => {
  const { ratioChart } = await frame('core-charts.mjs');
  const limit = aRow({ row: 'count', ratio: null, range: null, against: null, reach: '< 100 ms', unit: 'ms' });
  const svg = ratioChart({ rows: [aRow(), aRow({ unit: 'ms', reach: null, ratio: 0.5 }), limit], note: '' });
  expect(barsIn(svg)).toBe(3);
  // Half the time of the peer is twice as good.
  expect(svg.match(/2\.00 × BullMQ/g)).toHaveLength(2);
});

it('the committed tables and charts are those of the kept figures', async () => {
  const { targets } = await frame('../targets.mjs');
  const { pageOf } = await frame('report.mjs');
  const sizes = { few: 1_000, many: 1_000_000, waiting: 1_000_000 };
  const specs = targets({ stores: ['redis', 'sqlite'], sizes, hasPostgres: true });
  const { text, charts } = pageOf({ root, specs });
  expect(readFileSync(join(root, 'docs/benchmarks.md'), 'utf8')).toContain(text.trim());
  for (const [name, svg] of Object.entries(charts))
    expect(readFileSync(join(root, 'docs/benchmarks', name), 'utf8')).toBe(svg);
});

it('the committed charts show the tables of the page', () => {
  const page = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8');
  const latest = page.slice(page.indexOf('<!-- bench:core -->'));
  const figures = tableOf(latest, '|  | Longhaul');
  const chart = (name: string) => readFileSync(join(root, 'docs/benchmarks', name), 'utf8');
  const shown = figures.flatMap(([, ...cells]) => cells.filter((cell) => cell !== '' && cell !== 'VOID'));
  expect(barsIn(chart('core-figures.svg'))).toBe(shown.length);
  expect(barsIn(chart('core-ratios.svg'))).toBe(tableOf(latest, '| row | Longhaul').length);
  const used = [...page.matchAll(/benchmarks\/([\w-]+\.svg)/g)].map(([, name]) => name ?? '');
  expect(used.sort()).toEqual(readdirSync(join(root, 'docs/benchmarks')).sort());
});

it('a ratio moved if it lies outside the spread of the kept one, in either direction', async () => {
  const { compareRatios } = await frame('kept-ratios.mjs');
  const kept = [aRow(), aRow({ row: 'pick-up', unit: 'ms' })];
  const at = (ratio: number, row = 'Redis: add', unit = 'jobs/s') => aRow({ row, unit, ratio, range: [ratio, ratio] });
  expect(compareRatios(kept, [at(2.4), at(1.7)])).toMatchObject({ compared: 2, moved: [], missing: [] });
  expect(compareRatios(kept, [at(2.5), at(1.6)]).moved).toMatchObject([{ isBetter: true }, { isBetter: false }]);
  expect(compareRatios(kept, [at(2.5, 'pick-up', 'ms')]).moved).toMatchObject([
    { before: 2, now: 2.5, isBetter: false },
  ]);
  // Another peer may be the fastest in the next run.
  const fastest = [aRow({ against: 'BullMQ (the fastest)' })];
  expect(compareRatios(fastest, [aRow({ against: 'bee-queue (the fastest)' })])).toMatchObject({
    compared: 1,
    moved: [],
  });
  expect(compareRatios(kept, [at(2, 'new')])).toMatchObject({ missing: ['new, against BullMQ'], moved: [] });
});

it('a run that is written replaces the parts that it measured, and keeps the others with their run', async () => {
  const { createFigures } = await frame('figures.mjs');
  const { keepFigures, readFigures } = await frame('kept-figures.mjs');
  const folder = mkdtempSync(join(tmpdir(), 'figures-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'figures.json');
  expect(() => readFigures(path)).toThrow('Write them with --write');
  const keep = (date: string, values: Record<string, number>) => {
    const figures = createFigures();
    for (const [part, value] of Object.entries(values)) figures.section(part).add('bullmq', { [`${part}.p50`]: value });
    keepFigures(path, { figures, parts: Object.keys(values), run: { facts: { date }, notes: [] } });
  };
  keep('2026-01-01', { add: 1, bulk: 2 });
  keep('2026-01-02', { bulk: 3 });
  const { runs, figures } = readFigures(path);
  expect(figures.of('bullmq', 'add.p50')).toMatchObject({ value: 1 });
  expect(figures.of('bullmq', 'bulk.p50')).toMatchObject({ value: 3 });
  expect(figures.of('bullmq', 'work1')).toMatchObject({ reason: expect.stringContaining('not measured') });
  expect(runs).toMatchObject([
    { facts: { date: '2026-01-02' }, parts: ['bulk'] },
    { facts: { date: '2026-01-01' }, parts: ['add'] },
  ]);
});
