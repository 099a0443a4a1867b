/** The next 24 hours: a row for each schedule with a stroke for each run, so that overlaps are visible. */
import type { ScheduleTimelineList } from '../../../src/wire/schedule-checks.ts';
import { localIso, plural, span } from '../../../src/wire/spans.ts';
import { hoursOf, type Stroke, strokesOf, TIMELINE_WIDTH, type Window, widthOf } from './timeline-layout.ts';

type Row = ScheduleTimelineList['timelines'][number];

export function ScheduleTimeline({ list }: { list: ScheduleTimelineList }) {
  const { timelines: schedules, from, until } = list;
  if (schedules.length === 0) return null;
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline" class="mb-2 text-lg font-semibold">
        Next 24 hours
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <div class="panel overflow-x-auto px-3 py-2" role="group" tabIndex={0} aria-label="Timeline of the schedules">
        <div class="grid min-w-[40rem] grid-cols-[minmax(6rem,12rem)_1fr] items-center gap-x-3 gap-y-1">
          {schedules.map((row) => (
            <TimelineRow key={row.name} row={row} window={{ from, until }} />
          ))}
          <span />
          <HourLine window={{ from, until }} />
        </div>
      </div>
    </section>
  );
}

function TimelineRow({ row, window }: { row: Row; window: Window }) {
  return (
    <>
      <span class={`truncate text-sm ${row.isPaused ? 'text-soft' : ''}`} title={row.name}>
        {row.name}
      </span>
      <svg
        role="img"
        aria-label={rowText(row)}
        viewBox={`0 0 ${TIMELINE_WIDTH} 20`}
        preserveAspectRatio="none"
        class="h-5 w-full rounded-sm bg-raised"
      >
        {hoursOf(window).map(({ x }) => (
          <rect key={x} x={x} y={0} width={1} height={20} class="fill-line" />
        ))}
        {row.isCut && <MoreRuns row={row} window={window} />}
        {strokesOf(row.runs, window).map((stroke) => (
          <RunBar key={stroke.x} x={stroke.x} row={row} window={window} />
        ))}
        {strokesOf(row.runs, window).map((stroke) => (
          <rect
            key={stroke.x}
            x={Math.min(stroke.x, TIMELINE_WIDTH - 3)}
            y={2}
            width={3}
            height={16}
            class={row.isPaused ? 'fill-soft' : 'fill-accent'}
          >
            <title>{strokeText(stroke)}</title>
          </rect>
        ))}
      </svg>
    </>
  );
}

/** The expected duration of a run; overlapping runs are darker. */
function RunBar({ x, row, window }: { x: number; row: Row; window: Window }) {
  if (row.expectedMs === null) return null;
  const width = Math.min(widthOf(row.expectedMs, window), TIMELINE_WIDTH - x);
  return <rect x={x} y={5} width={width} height={10} class={row.isPaused ? 'fill-soft/40' : 'fill-accent/40'} />;
}

/** The list of runs is truncated: the rest of the row is filled. */
function MoreRuns({ row, window }: { row: Row; window: Window }) {
  const from = strokesOf(row.runs, window).at(-1)?.x ?? 0;
  return (
    <rect x={from} y={2} width={TIMELINE_WIDTH - from} height={16} class="fill-accent-ground">
      <title>more runs follow</title>
    </rect>
  );
}

function HourLine({ window }: { window: Window }) {
  return (
    <div class="relative h-5" aria-hidden="true">
      {hoursOf(window).map(({ x, label }) =>
        label === null ? null : (
          <span
            key={x}
            class="numbers absolute -translate-x-1/2 text-xs text-soft"
            style={{ left: `${(x / TIMELINE_WIDTH) * 100}%` }}
          >
            {label}
          </span>
        ),
      )}
    </div>
  );
}

function rowText({ name, runs, isCut, isPaused, expectedMs }: Row): string {
  const [first] = runs;
  const count = `${isCut ? 'more than ' : ''}${plural(runs.length, 'run')}`;
  const length = expectedMs === null ? '' : `, each about ${span(expectedMs)}`;
  const when = first === undefined ? 'no run' : `${count}${length}, the first at ${localIso(first)}`;
  return `${name}: ${isPaused ? 'paused; otherwise ' : ''}${when}`;
}

function strokeText({ count, firstAt }: Stroke): string {
  return count === 1 ? localIso(firstAt) : `${count} runs from ${localIso(firstAt)} on`;
}
