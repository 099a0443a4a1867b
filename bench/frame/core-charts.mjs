/** The charts of the two tables of bench/core.mjs: the figures of all contenders, and the rows with their targets. */
import { barChart } from './chart.mjs';
import { contenders, isOurs } from './contenders.mjs';
import { number } from './table.mjs';

const longestTimes = 6;

/** Returns the chart of each table by its file name. */
export function coreCharts({ rows, figures, measures, names, facts }) {
  const note = `${facts.date}, commit ${facts.commit}, ${facts.cores} cores`;
  return {
    'core-figures.svg': figureChart({ figures, measures, names, note }),
    'core-ratios.svg': ratioChart({ rows, note }),
  };
}

/** One group for each measure, with a bar for each contender that has it. */
export function figureChart({ figures, measures, names, note }) {
  const groups = measures.map(([measure, title]) => ({
    heading: `${title} (${isRate(title) ? 'longer is better' : 'shorter is better'})`,
    bars: names.flatMap((name) => {
      const { value } = figures.of(name, measure);
      if (value === undefined) return [];
      return [{ label: contenders[name].title, value, text: number(value), isOurs: isOurs(name) }];
    }),
  }));
  const shown = groups.filter(({ bars }) => bars.length > 0);
  return barChart({ title: 'Longhaul and its peers', note, groups: shown });
}

/**
 * One bar for each row: how many times better than the peer, or than the limit of a row without a peer. The dashed line is
 * the peer, the short line the target.
 */
export function ratioChart({ rows, note }) {
  const bars = rows.flatMap((row) => {
    const times = timesBetter(row);
    return times === null ? [] : [{ ...times, isOurs: true }];
  });
  const groups = bars.length === 0 ? [] : [{ bars, longest: longestTimes, line: 1 }];
  const explanation = `${note}. Times better than the peer or limit; short line: target`;
  return barChart({ title: 'Longhaul against the peer of each row', note: explanation, groups });
}

function timesBetter({ row, ours, ratio, reach, against, unit }) {
  const [sign, limit] = reach?.split(' ') ?? [];
  const isHigher = sign ? sign === '≥' || sign === '>' : unit === 'jobs/s';
  const value = ratio ?? (ours !== null && limit ? ours / Number(limit) : null);
  if (value === null || value === 0) return null;
  const times = isHigher ? value : 1 / value;
  const target = ratio !== null && limit ? (isHigher ? Number(limit) : 1 / Number(limit)) : undefined;
  const text =
    ratio === null ? `${number(ours)} ${unit}` : `${number(times)} × ${against.replace(/ \(the fastest.*\)$/, '')}`;
  return { label: row, value: times, text, ...(target !== undefined && { mark: target }) };
}

const isRate = (title) => title.includes('jobs/s');
