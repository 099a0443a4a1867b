/** The phases of an attempt, drawn to scale, with links into the log. */
import { span } from '../../../src/wire/spans.ts';
import type { Phase } from './phases.ts';

const WIDTH = 1_000;
const HEIGHT = 6;
const TONES = ['fill-accent', 'fill-later', 'fill-good', 'fill-warn', 'fill-calm'];
const toneOf = (place: number): string => TONES[place % TONES.length] ?? '';

export function PhaseStrip({ phases, goTo }: { phases: readonly Phase[]; goTo: (line: number) => void }) {
  const begin = phases[0]?.from;
  if (begin === undefined) return null;
  const scale = WIDTH / Math.max(1, (phases.at(-1)?.to ?? begin) - begin);
  return (
    <section aria-label="Phases" class="border-b border-line px-3 py-2">
      <svg class="mb-1.5 h-1.5 w-full" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {phases.map(({ from, to }, place) => (
          <rect
            key={from + place}
            x={(from - begin) * scale}
            width={Math.max(2, (to - from) * scale - 2)}
            height={HEIGHT}
            class={toneOf(place)}
          />
        ))}
      </svg>
      <ol class="flex flex-wrap gap-x-5 gap-y-1 text-sm">
        {phases.map((phase, place) => (
          <li key={phase.from + place} class="flex items-center gap-1.5">
            <svg width="8" height="8" viewBox="0 0 8 8" aria-hidden="true">
              <rect width="8" height="8" rx="2" class={toneOf(place)} />
            </svg>
            <Name phase={phase} goTo={goTo} />
            <span class="numbers text-soft">
              {span(phase.to - phase.from)}
              {phase.isActive && ' so far'}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Name({ phase: { name, line }, goTo }: { phase: Phase; goTo: (line: number) => void }) {
  if (line === null) return <span class="max-w-60 truncate">{name}</span>;
  return (
    <button type="button" class="link max-w-60 truncate" onClick={() => goTo(line)}>
      {name}
    </button>
  );
}
