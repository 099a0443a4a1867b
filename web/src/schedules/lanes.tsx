/** The coming day: a lane for each schedule, with a stroke for each run, so that what falls together is seen. */
import type { LaneList } from '../../../src/wire/schedule-checks.ts';
import { localIso, plural, span } from '../../../src/wire/spans.ts';
import { hoursOf, LANE_WIDTH, type Stroke, strokesOf, type Window, widthOf } from './lane-places.ts';

type Lane = LaneList['lanes'][number];

export function Lanes({ list }: { list: LaneList }) {
  const { lanes, from, until } = list;
  return (
    <section aria-labelledby="lanes">
      <h2 id="lanes" class="mb-2 text-lg font-semibold">
        The next 24 hours
      </h2>
      <div class="panel overflow-x-auto px-3 py-2">
        <div class="grid min-w-[40rem] grid-cols-[minmax(6rem,12rem)_1fr] items-center gap-x-3 gap-y-1">
          {lanes.map((lane) => (
            <LaneRow key={lane.name} lane={lane} window={{ from, until }} />
          ))}
          <span />
          <HourLine window={{ from, until }} />
        </div>
      </div>
    </section>
  );
}

function LaneRow({ lane, window }: { lane: Lane; window: Window }) {
  return (
    <>
      <span class={`truncate text-sm ${lane.isPaused ? 'text-soft' : ''}`} title={lane.name}>
        {lane.name}
      </span>
      <svg
        role="img"
        aria-label={laneWords(lane)}
        viewBox={`0 0 ${LANE_WIDTH} 20`}
        preserveAspectRatio="none"
        class="h-5 w-full rounded-sm bg-raised"
      >
        {hoursOf(window).map(({ x }) => (
          <rect key={x} x={x} y={0} width={1} height={20} class="fill-line" />
        ))}
        {lane.isCut && <AndSoOn lane={lane} window={window} />}
        {strokesOf(lane.runs, window).map((stroke) => (
          <RunBar key={stroke.x} x={stroke.x} lane={lane} window={window} />
        ))}
        {strokesOf(lane.runs, window).map((stroke) => (
          <rect
            key={stroke.x}
            x={Math.min(stroke.x, LANE_WIDTH - 3)}
            y={2}
            width={3}
            height={16}
            class={lane.isPaused ? 'fill-soft' : 'fill-accent'}
          >
            <title>{strokeWords(stroke)}</title>
          </rect>
        ))}
      </svg>
    </>
  );
}

/** How long the job of a run is expected to take; where two lie over one another it is darker. */
function RunBar({ x, lane, window }: { x: number; lane: Lane; window: Window }) {
  if (lane.expectedMs === null) return null;
  const width = Math.min(widthOf(lane.expectedMs, window), LANE_WIDTH - x);
  return <rect x={x} y={5} width={width} height={10} class={lane.isPaused ? 'fill-soft/40' : 'fill-accent/40'} />;
}

/** More runs than are told: the rest of the lane is full of them. */
function AndSoOn({ lane, window }: { lane: Lane; window: Window }) {
  const from = strokesOf(lane.runs, window).at(-1)?.x ?? 0;
  return (
    <rect x={from} y={2} width={LANE_WIDTH - from} height={16} class="fill-accent-ground">
      <title>goes on like this</title>
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
            style={{ left: `${(x / LANE_WIDTH) * 100}%` }}
          >
            {label}
          </span>
        ),
      )}
    </div>
  );
}

function laneWords({ name, runs, isCut, isPaused, expectedMs }: Lane): string {
  const [first] = runs;
  const count = `${isCut ? 'more than ' : ''}${plural(runs.length, 'run')}`;
  const length = expectedMs === null ? '' : `, each about ${span(expectedMs)}`;
  const when = first === undefined ? 'no run' : `${count}${length}, the first at ${localIso(first)}`;
  return `${name}: ${isPaused ? 'paused; it would have ' : ''}${when}`;
}

function strokeWords({ count, firstAt }: Stroke): string {
  return count === 1 ? localIso(firstAt) : `${count} runs from ${localIso(firstAt)} on`;
}
