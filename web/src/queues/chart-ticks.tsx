/** The labels below a chart. Positioned by SVG attributes: the content security policy forbids inline styles. */
export interface ChartTick {
  /** 0 at the left end, 1 at the right end. */
  readonly share: number;
  readonly text: string;
}

export function ChartTicks({ ticks }: { ticks: readonly ChartTick[] }) {
  return (
    <svg class="block h-4 w-full overflow-visible" aria-hidden="true">
      {ticks.map(({ share, text }) => (
        <text
          key={share}
          x={`${share * 100}%`}
          y="12"
          class="fill-soft text-[11px]"
          text-anchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'}
        >
          {text}
        </text>
      ))}
    </svg>
  );
}
