/** Resource use of an attempt over time. The chart library is loaded on demand. */
import { useEffect, useRef } from 'preact/hooks';
import type { AttemptView } from '../../../src/wire/attempt-view.ts';
import { bytes } from '../../../src/wire/spans.ts';

type Samples = NonNullable<AttemptView['usage']>['samples'];

const MIN_SAMPLES = 3;

export function UsagePlots({ attempt }: { attempt: AttemptView | undefined }) {
  const samples = attempt?.usage?.samples ?? [];
  if (samples.length < MIN_SAMPLES) return null;
  const seconds = samples.slice(1).map(({ at }) => at / 1_000);
  const rates = (of: (sample: Samples[number]) => number): number[] => ratesOf(samples, of);
  const memory = samples.slice(1).map(({ rssBytes }) => rssBytes);
  return (
    <section aria-labelledby="usage">
      <h2 id="usage" class="mb-2 font-semibold">
        Resource use of attempt {attempt?.attempt}
      </h2>
      <div class="grid gap-4 md:grid-cols-3">
        <Plot title="CPU, % of a core" x={seconds} y={rates((each) => each.cpuSeconds * 100)} show={percent} />
        <Plot title="Memory" x={seconds} y={memory} show={bytes} />
        <Plot
          title="Disk I/O per second"
          x={seconds}
          y={rates((each) => each.readBytes + each.writtenBytes)}
          show={bytes}
        />
      </div>
    </section>
  );
}

const percent = (value: number): string => `${Math.round(value)} %`;

function ratesOf(samples: Samples, of: (sample: Samples[number]) => number): number[] {
  return samples.slice(1).map((sample, place) => {
    const before = samples[place] ?? sample;
    const passed = (sample.at - before.at) / 1_000;
    return passed <= 0 ? 0 : Math.max(0, of(sample) - of(before)) / passed;
  });
}

interface PlotProps {
  readonly title: string;
  readonly x: number[];
  readonly y: number[];
  show(value: number): string;
}

function Plot({ title, x, y, show }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ setData(data: [number[], number[]]): void; destroy(): void } | null>(null);
  const latest = useRef<[number[], number[]]>([x, y]);
  latest.current = [x, y];
  useEffect(() => {
    let isGone = false;
    void import('./draw-plot.ts').then(({ drawPlot }) => {
      if (!isGone && place.current !== null) drawn.current = drawPlot(place.current, { data: latest.current, show });
    });
    return () => {
      isGone = true;
      drawn.current?.destroy();
    };
  }, []);
  useEffect(() => drawn.current?.setData([x, y]), [x.at(-1), x.length]);
  const summary = `${title}: ${show(y.at(-1) ?? 0)} now, ${show(Math.max(...y))} at most`;
  return (
    <figure class="panel min-w-0 p-3">
      <figcaption class="mb-1 text-sm text-soft">{summary}</figcaption>
      <div ref={place} class="h-36 overflow-hidden" role="img" aria-label={summary} />
    </figure>
  );
}
