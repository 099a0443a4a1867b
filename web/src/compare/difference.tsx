/** The difference of two texts, with context lines. */
import { LogText } from '../log/log-text.tsx';
import type { DiffLine } from './line-diff.ts';
import { diffLines, hunksOf } from './line-diff.ts';

interface DifferenceProps {
  readonly name: string;
  readonly a: readonly string[];
  readonly b: readonly string[];
  sameAs?(line: string): string;
}

const AROUND = 3;
const SIDES: Readonly<Record<DiffLine['side'], readonly [sign: string, className: string, prefix: string]>> = {
  both: [' ', 'text-soft', ''],
  a: ['−', 'bg-bad-ground', 'only in the first: '],
  b: ['+', 'bg-good-ground', 'only in the second: '],
};

export function Difference({ name, a, b, sameAs }: DifferenceProps) {
  const hunks = hunksOf(diffLines(a, b, sameAs), AROUND);
  if (hunks.length === 0) return <p class="text-soft">No difference.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section
      class="max-h-[60vh] overflow-auto rounded-md bg-ground py-2 font-mono text-[13px]"
      tabIndex={0}
      aria-label={name}
    >
      {hunks.map(({ lines, skipped }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other key
        <div key={place}>
          {lines.map((line, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key
            <Line key={at} line={line} />
          ))}
          {skipped > 0 && <p class="px-3 py-0.5 text-soft">… {skipped.toLocaleString('en')} equal lines</p>}
        </div>
      ))}
    </section>
  );
}

function Line({ line: { side, text } }: { line: DiffLine }) {
  const [sign, className, prefix] = SIDES[side];
  return (
    <div class={`flex px-3 leading-[18px] whitespace-pre-wrap ${className}`}>
      <span class="w-5 shrink-0 select-none" aria-hidden="true">
        {sign}
      </span>
      <span class="sr-only">{prefix}</span>
      <bdi dir="ltr" class="min-w-0 break-all">
        <LogText line={text} />
      </bdi>
    </div>
  );
}
