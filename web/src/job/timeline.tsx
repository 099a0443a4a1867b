/** The timeline of a job, drawn to scale: waiting, attempts and interruptions; sleeps and other waits of an attempt are thin. */

import type { HistoryRow } from '../../../src/core/job/history.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { localIso, span } from '../../../src/wire/spans.ts';
import type { StepView } from '../../../src/wire/steps/step-view.ts';
import { useNow } from '../ui/relative-time.tsx';
import { shortDuration } from '../ui/short-duration.ts';
import type { Segment } from './timeline-segments.ts';
import { isInterruption, segmentsOf } from './timeline-segments.ts';

const WIDTH = 1_000;
const HEIGHT = 22;
/** The smallest visible width. */
const MIN_WIDTH = 3;

const FILLS: Readonly<Record<string, string>> = {
  draft: 'fill-line',
  waiting: 'fill-later/35',
  running: 'fill-accent',
  done: 'fill-line',
  failed: 'fill-line',
  cancelled: 'fill-line',
};

/** The mark at the end of an attempt; others are interruptions or failures. */
const ENDS: Readonly<Record<string, string>> = {
  completed: 'fill-good',
  advanced: 'fill-good',
  forwarded: 'fill-good',
  resent: 'fill-warn',
  cancelled: 'fill-calm',
};

/** What a suspended job waits for, as a thin bar. */
const WAIT_HEIGHT = 8;
const fillOf = ({ state, wait }: Segment): string => {
  if (wait === null) return FILLS[state] ?? 'fill-line';
  if (wait === 'sleeping') return 'fill-calm/60';
  // Only a wait for an event may need someone who acts.
  return /^waiting for \d+ jobs$/.test(wait) ? 'fill-later/60' : 'fill-warn/70';
};

interface TimelineProps {
  readonly job: JobView;
  readonly history: readonly HistoryRow[];
  readonly steps: readonly StepView[];
}

export function Timeline({ job, history, steps }: TimelineProps) {
  const now = useNow();
  const isOver = job.state === 'done' || job.state === 'failed' || job.state === 'cancelled';
  const until = isOver ? (history.at(-1)?.at ?? now) : Math.max(now, history.at(-1)?.at ?? now);
  const wakeTimes = steps.flatMap((step) => (step.until === null ? [] : [step.until]));
  const segments = segmentsOf(history, until, wakeTimes);
  const begin = segments[0]?.from;
  if (begin === undefined || until <= begin) return null;
  const scale = WIDTH / (until - begin);
  return (
    <section class="panel px-4 py-3" aria-labelledby="timeline">
      <h2 id="timeline" class="mb-2 font-semibold">
        Timeline <span class="numbers text-sm font-normal text-soft">{span(until - begin)} in total</span>
      </h2>
      <svg
        class="h-6 w-full"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={segments.map(textOf).join('; ')}
      >
        {segments.map((each, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: segments are only appended
          <Part key={place} segment={each} x={(each.from - begin) * scale} scale={scale} />
        ))}
      </svg>
      <p class="mt-1 flex justify-between text-xs text-soft">
        <span>{localIso(begin)}</span>
        <span>{isOver ? localIso(until) : 'now'}</span>
      </p>
      <Legend segments={segments} />
    </section>
  );
}

const SPELLED = 8;

/** The last segments as text. */
function Legend({ segments }: { segments: readonly Segment[] }) {
  return (
    <ul class="mt-2 flex flex-wrap gap-x-5 gap-y-1 text-sm" aria-hidden="true">
      {segments.length > SPELLED && <li class="text-soft">…</li>}
      {segments.slice(-SPELLED).map((each, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: segments are only appended
        <li key={place} class="flex items-center gap-1.5">
          <svg width="8" height="8" viewBox="0 0 8 8">
            <rect
              y={each.wait === null ? 0 : 2}
              width="8"
              height={each.wait === null ? 8 : 4}
              rx={each.wait === null ? 2 : 1}
              class={fillOf(each)}
            />
          </svg>
          {textOf(each)}
        </li>
      ))}
    </ul>
  );
}

function Part({ segment, x, scale }: { segment: Segment; x: number; scale: number }) {
  const width = Math.max(MIN_WIDTH, (segment.to - segment.from) * scale);
  const height = segment.wait === null ? HEIGHT - 4 : WAIT_HEIGHT;
  return (
    <g>
      <rect x={x} y={(HEIGHT - height) / 2} width={width} height={height} class={fillOf(segment)}>
        <title>{textOf(segment)}</title>
      </rect>
      {segment.end !== null && segment.end !== 'suspended' && segment.state === 'running' && (
        <rect
          x={x + width - MIN_WIDTH}
          y="0"
          width={MIN_WIDTH}
          height={HEIGHT}
          class={ENDS[segment.end] ?? (isInterruption(segment) ? 'fill-warn' : 'fill-bad')}
        />
      )}
    </g>
  );
}

function textOf(segment: Segment): string {
  const { state, attempt, from, to, wait, end } = segment;
  const what = wait ?? (state === 'running' ? `attempt ${attempt} ran` : state);
  const how = end === null ? 'in progress' : isInterruption(segment) ? `interrupted (${end})` : end;
  return `${what} for ${shortDuration(to - from)}, ${how}`;
}
