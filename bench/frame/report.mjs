/**
 * Writes the results to the terminal and to stdout as JSON. With `--write` it keeps the figures, and writes the tables of
 * docs/benchmarks.md and their charts from all kept figures.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contenders } from './contenders.mjs';
import { coreCharts } from './core-charts.mjs';
import { partOf } from './figures.mjs';
import { keepFigures, readFigures } from './kept-figures.mjs';
import { toRows } from './rows.mjs';
import * as table from './table.mjs';

export const chartFolder = join('docs', 'benchmarks');
export const figuresPath = join('bench', 'figures.json');
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
  const run = { facts, notes: notesOf({ options, isProvisional }) };
  const allFigures = table.figureTable({ figures, measures: measuresOf(options.parts), names: options.names });
  print(asText({ rows, ...run, allFigures, names: options.names }));
  if (options.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  if (!options.write) return;
  keepFigures(join(root, figuresPath), { figures, parts: options.parts, run });
  const { text, charts } = pageOf({ root, specs: options.specs });
  writeInto(join(root, 'docs', 'benchmarks.md'), text, 'core');
  writeCharts(join(root, chartFolder), charts);
}

const measuresOf = (parts) => measures.filter(([measure]) => parts.has(partOf(measure)));

/** Returns the rows of all kept figures; `specs` are the rows with their targets. */
export function keptRows({ root, specs }) {
  const { parts, figures } = readFigures(join(root, figuresPath));
  return toRows(
    specs.filter(({ measure }) => parts.has(partOf(measure))),
    figures,
  );
}

/** Returns the part of the page and the charts that show all kept figures. */
export function pageOf({ root, specs }) {
  const { parts, runs, figures, names } = readFigures(join(root, figuresPath));
  const rows = keptRows({ root, specs });
  const shown = { measures: measuresOf(parts), names: Object.keys(contenders).filter((name) => names.has(name)) };
  return {
    text: asMarkdown({ rows, runs, allFigures: table.figureTable({ figures, ...shown }), names: shown.names }),
    charts: coreCharts({ rows, figures, ...shown, facts: runs[0].facts }),
  };
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

const asMarkdown = ({ rows, runs, allFigures, names }) =>
  [
    ...runs.flatMap((run) => [...runLines(run, runs.length > 1), '']),
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

/** The facts of a run; where there are several, with the parts that are of this one. */
function runLines({ facts, notes, parts }, isOneOfMany) {
  const lines = [...table.factLines(facts), notes.join(' ')];
  if (!isOneOfMany) return lines.map(withBreak);
  return [...lines.map((line) => `${line}  `), wrapped(`Parts: ${parts.join(', ')}.`)];
}

const withBreak = (line, place, { length }) => (place === length - 1 ? line : `${line}  `);

const item = (text) => wrapped(text, { first: '- ', rest: '  ' });

/** Returns a text in lines of at most 120 characters, each with its indent. */
function wrapped(text, { first = '', rest = '' } = {}) {
  const [word, ...words] = text.split(' ');
  const lines = [`${first}${word}`];
  for (const each of words) {
    if (lines.at(-1).length + 1 + each.length > maxLength) lines.push(`${rest}${each}`);
    else lines.push(`${lines.pop()} ${each}`);
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
