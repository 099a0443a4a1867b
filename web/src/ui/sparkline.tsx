/** A small line chart without axes; its title holds the numbers for screen readers. */
interface SparklineProps {
  readonly values: readonly number[];
  readonly title: string;
  readonly width?: number;
  readonly height?: number;
  /** The value at the top of the chart; the largest value by default. */
  readonly top?: number;
}

export function Sparkline({ values, title, width = 96, height = 22, top }: SparklineProps) {
  const highest = Math.max(top ?? 0, ...values, 1e-9);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, place) => `${(place * step).toFixed(1)},${heightOf(value / highest, height)}`);
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={title} class="block">
      <title>{title}</title>
      <polygon points={`0,${height} ${points.join(' ')} ${width},${height}`} class="fill-accent-ground" />
      <polyline points={points.join(' ')} fill="none" stroke-width="1.3" class="stroke-accent" />
    </svg>
  );
}

function heightOf(share: number, height: number): string {
  return (height - 1 - Math.min(1, share) * (height - 3)).toFixed(1);
}
