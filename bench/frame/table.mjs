/** Rows, figures and facts as text for the terminal and as Markdown for docs/benchmarks.md. */
import { contenders } from './contenders.mjs';

export function number(value) {
  if (value === null || value === undefined) return '-';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const reached = ({ ok, reach, void: reason }) => (reason ? 'VOID' : reach === null ? '' : ok ? 'yes' : 'NO');

const cells = (row) => [
  row.row,
  row.ours === null ? '-' : `${number(row.ours)} ${row.unit}`,
  row.against === null ? '' : `${number(row.peer)}  ${row.against}`,
  row.ratio === null ? '' : `${row.ratio.toFixed(2)} ×`,
  row.reach ?? '',
  reached(row),
];
const head = ['row', 'Longhaul', 'against', 'ratio', 'target', 'reached'];

export const textTable = (rows) => aligned([head, ...rows.map(cells)]);

export function aligned(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const markdownTable = (rows) => markdown([head, ...rows.map(cells)]);

/** Returns lines of cells as a Markdown table. */
export function markdown([first, ...rest]) {
  const line = (each) => `| ${each.join(' | ')} |`;
  return [line(first), line(first.map(() => '---')), ...rest.map(line)].join('\n');
}

/** The figures of all contenders: median, lowest and highest of the rounds. */
export function figureTable({ figures, measures, names }) {
  const cell = (name, measure) => {
    const { value, lowest, highest, reason } = figures.of(name, measure);
    if (reason) return reason.startsWith('not measured') ? '' : 'VOID';
    return lowest === highest ? number(value) : `${number(value)} (${number(lowest)} to ${number(highest)})`;
  };
  const lines = measures.map(([measure, title]) => [title, ...names.map((name) => cell(name, measure))]);
  return [['', ...names.map((name) => contenders[name].title)], ...lines];
}

export const textFigures = (table) => aligned(table);
export const markdownFigures = (table) => markdown(table);

/** One line for each row that is not reached, with how far it is, and one for each reason why rows are void. */
export function shortfalls(rows) {
  const missed = rows.filter(({ short }) => short !== null).map(distance);
  const counts = new Map();
  for (const { void: reason } of rows) if (reason !== null) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [
    ...missed,
    ...[...counts].map(([reason, count]) => `${count === 1 ? '1 row is' : `${count} rows are`} void: ${reason}`),
  ];
}

function distance({ row, against, reach, short }) {
  const isHigher = reach.startsWith('≥') || reach.startsWith('>');
  const share = isHigher ? `${Math.round(short * 100)} % of the target` : `${number(short)} times the limit`;
  return `${against === null ? row : `${row}, against ${against}`}: ${share} (${reach})`;
}

export const factLines = (facts) => [
  `${facts.date}, commit ${facts.commit}, Node ${facts.node}, ${[facts.redis, facts.postgres, facts.system].filter(Boolean).join(', ')}`,
  `${facts.cores} cores (${facts.cpu}), ${facts.memoryGB} GB, ${facts.disk} with ${facts.fsyncsPerSecond.toLocaleString('en')} fsyncs a second`,
];

export const durabilityLines = (names) =>
  names.map((name) => `${contenders[name].title}: ${contenders[name].durability}`);
