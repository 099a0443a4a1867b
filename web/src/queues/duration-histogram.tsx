/** A histogram of durations on logarithmic axes from 1 ms to 30 days, with a text summary. */
import { DAY_MS } from '../../../src/core/statistics/histogram.ts';
import { shortDuration } from '../ui/short-duration.ts';
import { ChartTicks } from './chart-ticks.tsx';
import type { Bin, Spread } from './log-bins.ts';
import { binsOf, heightOf, placeOf, spreadText } from './log-bins.ts';

const WIDTH = 600;
const HEIGHT = 90;
const GAP = 1;
const TICKS: readonly (readonly [ms: number, text: string])[] = [
  [1, '1 ms'],
  [100, '100 ms'],
  [1_000, '1 s'],
  [60_000, '1 m'],
  [3_600_000, '1 h'],
  [DAY_MS, '1 d'],
  [30 * DAY_MS, '30 d'],
];

export function DurationHistogram({ title, spread }: { title: string; spread: Spread }) {
  const bins = binsOf(spread.histogram);
  const most = Math.max(...bins.map(({ count }) => count));
  const text = spreadText(spread);
  return (
    <figure class="panel min-w-0 p-3">
      <figcaption class="mb-2 text-sm text-soft">
        <span class="block font-medium text-ink">{title}</span>
        {text}
      </figcaption>
      <svg
        class="h-24 w-full border-b border-line"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${text}`}
      >
        {bins.map((bin) => (
          <Bar key={bin.fromMs} bin={bin} most={most} />
        ))}
        <Line ms={spread.halfMs} className="stroke-ink" />
        <Line ms={spread.mostMs} className="stroke-warn" />
      </svg>
      <ChartTicks ticks={TICKS.map(([ms, text]) => ({ share: placeOf(ms), text }))} />
    </figure>
  );
}

function Bar({ bin: { fromMs, toMs, count }, most }: { bin: Bin; most: number }) {
  const [x, end] = [placeOf(fromMs) * WIDTH, placeOf(toMs) * WIDTH];
  const height = heightOf(count, most) * HEIGHT;
  return (
    <rect x={x} y={HEIGHT - height} width={Math.max(1, end - x - GAP)} height={height} class="fill-accent">
      <title>{`${shortDuration(fromMs)} to ${shortDuration(toMs)}: ${count.toLocaleString('en')}`}</title>
    </rect>
  );
}

/** The lines of the median and the 95th percentile. */
function Line({ ms, className }: { ms: number | null; className: string }) {
  if (ms === null) return null;
  const x = placeOf(ms) * WIDTH;
  return (
    <line
      x1={x}
      x2={x}
      y1="0"
      y2={HEIGHT}
      class={className}
      stroke-width="1.5"
      stroke-dasharray="4 3"
      vector-effect="non-scaling-stroke"
    />
  );
}
