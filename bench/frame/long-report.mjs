/** The table and the chart of bench/long.mjs. */
import { join } from 'node:path';
import { barChart } from './chart.mjs';
import { contenders, isOurs } from './contenders.mjs';
import { chartFolder, writeCharts, writeInto } from './report.mjs';
import { aligned, factLines, markdown } from './table.mjs';

const head = [
  '',
  'worker killed, to rerun',
  'event loop blocked',
  'store away: starts, settled after its return',
  'script cancelled, to last process ended',
];
const columns = ['killed', 'blocked', 'away', 'cancel'];

export function longReport({ results, facts, options, root, print }) {
  const lines = [head, ...Object.entries(results).map(([name, each]) => [contenders[name].title, ...cells(each)])];
  const notes = [
    ...factLines(facts),
    `The event loop was blocked for ${options.blockMs / 1_000} s, the store away for ${options.awayMs / 1_000} s.`,
    ...(options.quick ? ['Short times (--quick): a functional check, not a measurement.'] : []),
    ...(options.isProvisional ? ['PROVISIONAL: something else was running on this machine.'] : []),
  ];
  print(`\n${notes.join('\n')}\n\n${aligned(lines)}`);
  if (options.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  if (!options.write) return;
  const page = [notes.join('  \n'), '', markdown(lines), '', '![The seconds as bars](benchmarks/long.svg)'].join('\n');
  writeInto(join(root, 'docs', 'benchmarks.md'), page, 'long');
  writeCharts(join(root, chartFolder), { 'long.svg': longChart({ results, facts }) });
}

const cells = (each) => columns.map((part) => cell(part, each[part]));

function cell(part, result) {
  if (result === undefined) return '';
  if (result === null) return 'n/a';
  if (result.problem) return `VOID: ${result.problem}`;
  if (part === 'blocked') return result.runs === 1 ? 'run once' : `started ${times(result.runs)}`;
  const exited = result.hasExited ? ', the worker exits' : '';
  return part === 'away' ? `${times(result.runs)}${exited}, ${duration(result)}` : duration(result);
}

const times = (count) => ['never', 'once', 'twice'][count] ?? `${count} times`;

const duration = ({ seconds, moreThanSeconds }) =>
  seconds === undefined ? `not within ${moreThanSeconds} s` : `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;

/** One group for each part with a duration, with a bar for each contender that has one. */
export function longChart({ results, facts }) {
  const groups = ['killed', 'away', 'cancel'].map((part) => ({
    heading: `${head[1 + columns.indexOf(part)]} (shorter is better)`,
    bars: Object.entries(results).flatMap(([name, { [part]: result }]) => {
      const value = result?.seconds ?? result?.moreThanSeconds;
      if (value === undefined) return [];
      return [{ label: contenders[name].title, value, text: duration(result), isOurs: isOurs(name) }];
    }),
  }));
  const note = `${facts.date}, commit ${facts.commit}, ${facts.cores} cores`;
  return barChart({ title: 'Long jobs', note, groups: groups.filter(({ bars }) => bars.length > 0) });
}
