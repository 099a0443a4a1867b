/** What came of a queue's jobs day by day: done above, failed in its own colour on top of it. */
import type { DayStatistics } from '../../../src/core/statistics.ts';
import { dayNumber, dayText } from '../../../src/core/statistics.ts';

const WIDTH = 600;
const HEIGHT = 90;
const SHARE = 0.8;

interface Day {
  readonly day: string;
  readonly done: number;
  readonly failed: number;
}

export function DailyBars({ days }: { days: readonly DayStatistics[] }) {
  const rows = everyDay(days);
  const most = Math.max(1, ...rows.map(({ done, failed }) => done + failed));
  const sum = (of: (day: Day) => number) => rows.reduce((total, day) => total + of(day), 0).toLocaleString('en');
  const words = `${sum(({ done }) => done)} done and ${sum(({ failed }) => failed)} failed in ${rows.length} ${rows.length === 1 ? 'day' : 'days'}, ${most.toLocaleString('en')} a day at most`;
  return (
    <figure class="panel min-w-0 p-3">
      <figcaption class="mb-2 text-sm text-soft">
        <span class="block font-medium text-ink">Throughput</span>
        {words}
      </figcaption>
      <svg
        class="h-24 w-full border-b border-line"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Throughput: ${words}`}
      >
        {rows.map((day, place) => (
          <Bars key={day.day} day={day} most={most} x={(place * WIDTH) / rows.length} step={WIDTH / rows.length} />
        ))}
      </svg>
      <p class="flex justify-between text-xs text-soft">
        <span>{rows[0]?.day}</span>
        <span>{rows.at(-1)?.day}, days of UTC</span>
      </p>
    </figure>
  );
}

function Bars({ day: { day, done, failed }, most, x, step }: { day: Day; most: number; x: number; step: number }) {
  const [good, bad] = [(done / most) * HEIGHT, (failed / most) * HEIGHT];
  return (
    <g>
      <rect x={x} y={HEIGHT - good} width={step * SHARE} height={good} class="fill-good" />
      <rect x={x} y={HEIGHT - good - bad} width={step * SHARE} height={bad} class="fill-bad" />
      <rect x={x} y="0" width={step} height={HEIGHT} class="fill-transparent">
        <title>{`${day}: ${done.toLocaleString('en')} done, ${failed.toLocaleString('en')} failed`}</title>
      </rect>
    </g>
  );
}

/** Days on which nothing happened are not told, and are shown all the same; at least a week, so that a bar is a bar. */
function everyDay(days: readonly DayStatistics[]): readonly Day[] {
  const known = new Map(days.map(({ day, run, failures }) => [day, { done: run.count, failed: failures }]));
  const numbers = days.map(({ day }) => dayNumber(day));
  const last = Math.max(...numbers);
  const first = Math.min(last - 6, ...numbers);
  return Array.from({ length: last - first + 1 }, (_, place) => {
    const day = dayText(first + place);
    return { day, ...(known.get(day) ?? { done: 0, failed: 0 }) };
  });
}
