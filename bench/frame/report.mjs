/**
 * Writes the results to the terminal and to stdout as JSON; with `--write` also to the table of docs/benchmarks.md, to its
 * charts and to the kept ratios.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coreCharts } from './core-charts.mjs';
import { keepRatios } from './kept-ratios.mjs';
import * as table from './table.mjs';

export const chartFolder = join('docs', 'benchmarks');
export const ratiosPath = join('bench', 'ratios.json');
/** Of a line of prose in the page. */
const maxLength = 120;
/** Each measure of the rounds with its title. */
export const measures = [
  ['add', 'add one by one, jobs/s'],
  ['bulk', 'add in bulk, jobs/s'],
  ['work1', 'process at 1, jobs/s'],
  ['work100', 'process at 100, jobs/s'],
  ['priority', 'process at 100 with a priority, jobs/s'],
  ['tag', 'process at 100 with a tag, jobs/s'],
  ['delay', 'process at 100 with a delay, jobs/s'],
  ['failing', 'process at 100, failing once, jobs/s'],
  ['throttle', 'process at 100 with a throttle, jobs/s'],
  ['processes1', 'process with 1 process, jobs/s'],
  ['processes2', 'process with 2 processes, jobs/s'],
  ['processes4', 'process with 4 processes, jobs/s'],
  ['pickup.p50', 'pick-up p50, two processes, ms'],
  ['pickup.p99', 'pick-up p99, two processes, ms'],
  ['pickupInside.p50', 'pick-up p50, one process, ms'],
  ['pickupInside.p99', 'pick-up p99, one process, ms'],
  ['bytes', 'bytes a waiting job'],
];

export function report({ rows, figures, facts, options, isProvisional, root, print }) {
  const shown = measures.filter(([measure]) => options.parts.has(measure.split('.')[0]));
  const allFigures = table.figureTable({ figures, measures: shown, names: options.names });
  const notes = notesOf({ options, isProvisional });
  const result = { rows, facts, allFigures, notes, names: options.names };
  print(asText(result));
  if (options.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  if (!options.write) return;
  writeInto(join(root, 'docs', 'benchmarks.md'), asMarkdown(result), 'core');
  writeCharts(join(root, chartFolder), coreCharts({ rows, figures, measures: shown, names: options.names, facts }));
  keepRatios(join(root, ratiosPath), { rows, facts });
}

/** Writes each chart to its file in the folder of charts. */
export function writeCharts(folder, charts) {
  mkdirSync(folder, { recursive: true });
  for (const [name, svg] of Object.entries(charts)) writeFileSync(join(folder, name), svg);
}

function notesOf({ options, isProvisional }) {
  const rounds =
    options.rounds === 1 ? 'One round.' : `Median of ${options.rounds} rounds in turns (lowest to highest).`;
  return [
    rounds,
    ...(options.quick ? ['Small sizes (--quick): a functional check, not a measurement.'] : []),
    ...(isProvisional ? ['PROVISIONAL: something else was running on this machine.'] : []),
    ...(options.hasPostgres
      ? []
      : ['Without pg-boss and Graphile Worker: there is no PostgreSQL server on this machine.']),
  ];
}

const asText = ({ rows, facts, allFigures, notes, names }) =>
  [
    '',
    ...table.factLines(facts),
    ...table.durabilityLines(names),
    ...notes,
    '',
    table.textFigures(allFigures),
    '',
    table.textTable(rows),
    ...missing(rows).map((line, index) => (index === 0 ? `\n${line}` : line)),
  ].join('\n');

const asMarkdown = ({ rows, facts, allFigures, notes, names }) =>
  [
    ...table.factLines(facts).map((line) => `${line}  `),
    notes.join(' '),
    '',
    ...table.durabilityLines(names).map(item),
    '',
    table.markdownFigures(allFigures),
    '',
    '![The figures of all contenders as bars](benchmarks/core-figures.svg)',
    '',
    table.markdownTable(rows),
    '',
    '![The ratios of all rows as bars](benchmarks/core-ratios.svg)',
    '',
    ...missing(rows).map((line) => (line.startsWith('  ') ? item(line.trim()) : `${line}\n`)),
  ].join('\n');

/** Returns an item of a list, in lines of at most 120 characters. */
function item(text) {
  const lines = ['-'];
  for (const word of text.split(' ')) {
    if (lines.at(-1).length + 1 + word.length > maxLength) lines.push(' ');
    lines.push(`${lines.pop()} ${word}`);
  }
  return lines.join('\n');
}

function missing(rows) {
  const lines = table.shortfalls(rows);
  return lines.length === 0 ? ['All targets are reached.'] : ['Not reached:', ...lines.map((line) => `  ${line}`)];
}

/** Replaces the part of a page between the two comments of a benchmark. */
export function writeInto(path, text, name) {
  const markers = { from: `<!-- bench:${name} -->`, to: `<!-- /bench:${name} -->` };
  const page = readFileSync(path, 'utf8');
  const [start, end] = [page.indexOf(markers.from), page.indexOf(markers.to)];
  if (start < 0 || end < start) throw new Error(`${path} has no ${markers.from} … ${markers.to}`);
  writeFileSync(path, `${page.slice(0, start + markers.from.length)}\n\n${text.trim()}\n\n${page.slice(end)}`);
}
