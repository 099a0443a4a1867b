/** Throughput of a queue: done and failed jobs over a selectable range. */
import { useState } from 'preact/hooks';
import type { ThroughputView } from '../../../src/wire/insight-views.ts';
import { withQuery } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import { ChartTicks } from './chart-ticks.tsx';
import type { Bar, Range } from './throughput.ts';
import { barsOf, RANGES, ticksOf, timeOf } from './throughput.ts';

const WIDTH = 600;
const HEIGHT = 90;
const SHARE = 0.8;
const POLL_MS = 30_000;

export function ThroughputBars({ name }: { name: string }) {
  const [range, choose] = useState<Range>(RANGES[0]);
  const { data } = useQuery<ThroughputView>(withQuery('api/throughput', { queue: name, span: range.span }), {
    concerns: () => false,
    everyMs: POLL_MS,
  });
  return (
    <figure class="panel min-w-0 p-3">
      <figcaption class="mb-2 text-sm text-soft">
        <span class="flex flex-wrap justify-between gap-x-3">
          <span class="font-medium text-ink">Throughput</span>
          <Choice range={range} choose={choose} />
        </span>
        {data !== undefined && textOf(barsOf(data, range), range)}
      </figcaption>
      {data !== undefined && <Drawing bars={barsOf(data, range)} range={range} />}
    </figure>
  );
}

function Choice({ range, choose }: { range: Range; choose: (range: Range) => void }) {
  return (
    <span role="radiogroup" aria-label="Throughput over" class="flex gap-3">
      {RANGES.map((each) => (
        <label key={each.label} class="flex items-center gap-1">
          <input type="radio" name="throughput" checked={each === range} onChange={() => choose(each)} /> {each.label}
        </label>
      ))}
    </span>
  );
}

function textOf(bars: readonly Bar[], { label, step }: Range): string {
  const most = Math.max(...bars.map(({ done, failed }) => done + failed));
  const sum = (of: (bar: Bar) => number) => bars.reduce((total, bar) => total + of(bar), 0).toLocaleString('en');
  return `${sum(({ done }) => done)} done and ${sum(({ failed }) => failed)} failed in ${label}${most === 0 ? '' : `, at most ${most.toLocaleString('en')} in ${step}`}`;
}

function Drawing({ bars, range }: { bars: readonly Bar[]; range: Range }) {
  const most = Math.max(1, ...bars.map(({ done, failed }) => done + failed));
  const step = WIDTH / bars.length;
  return (
    <>
      <svg
        class="h-24 w-full border-b border-line"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Throughput: ${textOf(bars, range)}`}
      >
        {bars.map((bar, place) => (
          <Bars key={bar.at} bar={bar} most={most} x={place * step} step={step} range={range} />
        ))}
      </svg>
      <ChartTicks ticks={ticksOf(bars, range)} />
    </>
  );
}

interface BarsProps {
  readonly bar: Bar;
  readonly most: number;
  readonly x: number;
  readonly step: number;
  readonly range: Range;
}

function Bars({ bar: { at, done, failed }, most, x, step, range }: BarsProps) {
  const [good, bad] = [(done / most) * HEIGHT, (failed / most) * HEIGHT];
  return (
    <g>
      <rect x={x} y={HEIGHT - good} width={step * SHARE} height={good} class="fill-good" />
      <rect x={x} y={HEIGHT - good - bad} width={step * SHARE} height={bad} class="fill-bad" />
      <rect x={x} y="0" width={step} height={HEIGHT} class="fill-transparent">
        <title>{`${timeOf(at, range)}: ${done.toLocaleString('en')} done, ${failed.toLocaleString('en')} failed`}</title>
      </rect>
    </g>
  );
}
