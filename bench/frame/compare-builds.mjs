/** Compares two builds of Longhaul, measured in turns in one run: one line for each store and measure. */
import { measures } from './report.mjs';
import { aligned, factLines, number } from './table.mjs';

const scaleMeasures = [
  ['claim.one.few', 'claim of one job, few waiting, ms'],
  ['claim.one.many', 'claim of one job, many waiting, ms'],
  ['claim.hundred.few', 'claim of a hundred, few waiting, ms'],
  ['claim.hundred.many', 'claim of a hundred, many waiting, ms'],
  ['claim.add.few', 'add of one job, few waiting, ms'],
  ['claim.add.many', 'add of one job, many waiting, ms'],
  ['claim.settle.few', 'settlement of one job, few waiting, ms'],
  ['claim.settle.many', 'settlement of one job, many waiting, ms'],
  ['finished.list', 'list with many finished jobs, ms'],
  ['finished.count', 'count with many finished jobs, ms'],
  ['heartbeats', 'heartbeats of 1,000 running jobs, % of a core'],
];
const isRate = (title) => title.includes('jobs/s');

/** Prints the comparison; returns the exit code: 1 if a measure is void. */
export function compareBuilds({ figures, facts, options, isProvisional, print }) {
  const rows = rowsOf({ figures, options });
  const head = ['store', 'measure', 'this build', 'other build', 'this is faster by'];
  print(['', ...factLines(facts), `Median of ${options.rounds} alternating rounds (lowest to highest).`].join('\n'));
  if (isProvisional) print('PROVISIONAL: something else was running on this machine.');
  print(`\n${aligned([head, ...rows.map(cells)])}`);
  if (options.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  return rows.some((row) => row.void) ? 1 : 0;
}

function rowsOf({ figures, options }) {
  const shown = [...measures, ...scaleMeasures].filter(([measure]) => options.parts.has(measure.split('.')[0]));
  const rows = options.pairs.flatMap(({ name, other }) =>
    shown.map(([measure, title]) => {
      const [ours, theirs] = [figures.of(name, measure), figures.of(other, measure)];
      const reason = ours.reason ?? theirs.reason;
      const quotient = reason ? null : isRate(title) ? ours.value / theirs.value : theirs.value / ours.value;
      return { store: name, measure: title, ours, theirs, quotient, void: reason };
    }),
  );
  return rows.filter((row) => !row.void?.startsWith('not measured'));
}

const cells = (row) => [
  row.store.replace('longhaul-', ''),
  row.measure,
  spread(row.ours),
  spread(row.theirs),
  row.void ? `VOID: ${row.void}` : `${row.quotient.toFixed(2)} ×`,
];

function spread({ value, lowest, highest, reason }) {
  if (reason) return '-';
  return lowest === highest ? number(value) : `${number(value)} (${number(lowest)} to ${number(highest)})`;
}
