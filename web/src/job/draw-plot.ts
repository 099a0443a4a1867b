/** A line chart over time with uPlot; a chunk of its own, so that the first load does not include it. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { localIso } from '../../../src/wire/spans.ts';

const HEIGHT = 144;

interface PlotOptions {
  readonly data: [number[], number[]];
  show(value: number): string;
}

export function drawPlot(place: HTMLElement, { data, show }: PlotOptions): uPlot {
  const style = getComputedStyle(place);
  const colour = (name: string): string => resolved(place, style.getPropertyValue(name));
  const axis = {
    stroke: colour('--color-soft'),
    grid: { stroke: colour('--color-line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  const plot = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_plot, _low, high) => [0, Math.max(high * 1.1, 1)] } },
      axes: [
        {
          ...axis,
          size: 24,
          space: 70,
          values: (_plot, values) => timesOf(values),
        },
        { ...axis, size: 62, values: (_plot, values) => values.map((value) => show(value)) },
      ],
      series: [
        {},
        {
          stroke: colour('--color-accent'),
          fill: colour('--color-accent-ground'),
          width: 1.5,
          points: { show: false },
        },
      ],
    },
    data,
    place,
  );
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT })).observe(place);
  return plot;
}

/** Returns ticks in local time of 24 hours: as much of the date and time as differs between two ticks. */
function timesOf(seconds: readonly number[]): string[] {
  const stepSeconds = (seconds[1] ?? 0) - (seconds[0] ?? 0);
  const [from, to] = stepSeconds >= 86_400 ? [5, 10] : stepSeconds >= 60 ? [11, 16] : [11, 19];
  return seconds.map((value) => localIso(value * 1_000).slice(from, to));
}

/** Resolves a CSS colour: a canvas does not support light-dark(). */
function resolved(place: HTMLElement, value: string): string {
  const probe = document.createElement('span');
  probe.style.color = value;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
