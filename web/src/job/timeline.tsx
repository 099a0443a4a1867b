/** A job's life drawn to scale: waiting, runs, and the interruptions between them. The history below says the same in words. */

import type { HistoryRow } from '../../../src/core/job/history.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { localIso, span } from '../../../src/wire/spans.ts';
import { briefly } from '../ui/briefly.ts';
import { useNow } from '../ui/when.tsx';
import type { Stretch } from './timeline-parts.ts';
import { isInterruption, stretchesOf } from './timeline-parts.ts';

const WIDTH = 1_000;
const HEIGHT = 22;
/** Narrower than this nothing can be seen. */
const LEAST = 3;

const FILLS: Readonly<Record<string, string>> = {
  draft: 'fill-line',
  waiting: 'fill-later/35',
  running: 'fill-accent',
  done: 'fill-line',
  failed: 'fill-line',
  cancelled: 'fill-line',
};

export function Timeline({ job, history }: { job: JobView; history: readonly HistoryRow[] }) {
  const now = useNow();
  const isOver = job.state === 'done' || job.state === 'failed' || job.state === 'cancelled';
  const until = isOver ? (history.at(-1)?.at ?? now) : Math.max(now, history.at(-1)?.at ?? now);
  const stretches = stretchesOf(history, until);
  const begin = stretches[0]?.from;
  if (begin === undefined || until <= begin) return null;
  const scale = WIDTH / (until - begin);
  return (
    <section class="panel px-4 py-3" aria-labelledby="timeline">
      <h2 id="timeline" class="mb-2 font-semibold">
        Timeline <span class="numbers text-sm font-normal text-soft">{span(until - begin)} in all</span>
      </h2>
      <svg
        class="h-6 w-full"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={stretches.map(wordsOf).join('; ')}
      >
        {stretches.map((each) => (
          <Part
            key={`${each.from}/${each.attempt}/${each.state}`}
            stretch={each}
            x={(each.from - begin) * scale}
            scale={scale}
          />
        ))}
      </svg>
      <p class="mt-1 flex justify-between text-xs text-soft">
        <span>{localIso(begin)}</span>
        <span>{isOver ? localIso(until) : 'now'}</span>
      </p>
      <Legend stretches={stretches} />
    </section>
  );
}

const SPELLED = 8;

/** The same in words; of many, the last ones. */
function Legend({ stretches }: { stretches: readonly Stretch[] }) {
  return (
    <ul class="mt-2 flex flex-wrap gap-x-5 gap-y-1 text-sm" aria-hidden="true">
      {stretches.length > SPELLED && <li class="text-soft">…</li>}
      {stretches.slice(-SPELLED).map((each) => (
        <li key={`${each.from}/${each.attempt}/${each.state}`} class="flex items-center gap-1.5">
          <svg width="8" height="8" viewBox="0 0 8 8">
            <rect width="8" height="8" rx="2" class={FILLS[each.state] ?? 'fill-line'} />
          </svg>
          {wordsOf(each)}
        </li>
      ))}
    </ul>
  );
}

function Part({ stretch, x, scale }: { stretch: Stretch; x: number; scale: number }) {
  const width = Math.max(LEAST, (stretch.to - stretch.from) * scale);
  return (
    <g>
      <rect x={x} y="2" width={width} height={HEIGHT - 4} class={FILLS[stretch.state] ?? 'fill-line'}>
        <title>{wordsOf(stretch)}</title>
      </rect>
      {stretch.end !== null && stretch.state === 'running' && (
        <rect
          x={x + width - LEAST}
          y="0"
          width={LEAST}
          height={HEIGHT}
          class={isInterruption(stretch) ? 'fill-warn' : stretch.end === 'completed' ? 'fill-good' : 'fill-bad'}
        />
      )}
    </g>
  );
}

function wordsOf(stretch: Stretch): string {
  const { state, attempt, from, to, end } = stretch;
  const what = state === 'running' ? `attempt ${attempt} ran` : state;
  const how = end === null ? 'goes on' : isInterruption(stretch) ? `interrupted (${end})` : end;
  return `${what} for ${briefly(to - from)}, ${how}`;
}
