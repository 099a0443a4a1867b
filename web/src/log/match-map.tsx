/** A strip beside the scroll bar that marks the positions of all matches. */

interface MatchMapProps {
  readonly lines: readonly number[];
  readonly total: number;
  goTo(line: number): void;
}

/** Matches closer than this share a mark. */
const STEPS = 400;

export function MatchMap({ lines, total, goTo }: MatchMapProps) {
  if (lines.length === 0 || total === 0) return null;
  const places = new Map(lines.map((line) => [Math.floor(((line - 1) / total) * STEPS), line]));
  const onClick = (event: MouseEvent) => {
    const { top, height } = (event.currentTarget as Element).getBoundingClientRect();
    const wanted = ((event.clientY - top) / height) * total;
    goTo(lines.reduce((best, line) => (Math.abs(line - wanted) < Math.abs(best - wanted) ? line : best)));
  };
  return (
    <svg
      class="absolute top-0 right-4 h-full w-2 cursor-pointer"
      viewBox={`0 0 8 ${STEPS}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${lines.length} matches in ${total} lines`}
      data-matches={lines.length}
      onClick={onClick}
    >
      {[...places.keys()].map((place) => (
        <rect key={place} x="0" y={place} width="8" height="2" class="fill-warn" />
      ))}
    </svg>
  );
}
